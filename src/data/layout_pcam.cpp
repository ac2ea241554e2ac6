// PatchCamelyon: `x` (N,H,W,C) in NAME_x.h5, and `y` (N,1,1,1) in NAME_y.h5 beside it.
// Source: basveeling/pcam, README.md.
#include <filesystem>

#include "layout.hpp"

namespace wasp {

std::optional<Plan> recognise_pcam(const h5::File& file) {
    const auto& path = file.path();
    auto stem = path.stem().string();
    if (!stem.ends_with("_x") || !file.has("/x") || file.has("/y")) return std::nullopt;
    stem.back() = 'y';
    const auto sister = path.parent_path() / (stem + path.extension().string());
    std::error_code unreachable;
    if (!std::filesystem::exists(sister, unreachable)) return std::nullopt;
    Plan plan{.layout = "PCam, one split", .train = {{"/x"}, {"/y"}}};
    plan.labels_file = sister;
    return plan;
}

}  // namespace wasp
