#include "support/wasp_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace wasp::test {

const std::filesystem::path& small_data() {
    static const Scratch folder;
    static const auto file = [] {
        auto path = folder / "small.h5";
        const auto outcome =
            run_wasp({"data", "synth", "--classes", "4", "--shape", "1,16,16", "--train", "600",
                      "--test", "200", "--seed", "3", "--out", path.string()});
        if (outcome.code != 0) throw std::runtime_error(outcome.err);
        return path;
    }();
    return file;
}

Words short_training(const std::filesystem::path& out, const Words& more) {
    return Words{"train",   "--data", small_data().string(), "--out", out.string(),
                 "--batch", "16",     "--progress",          "none"} +
           more;
}

std::string not_refused(const Outcome& outcome, int code, const std::string& message) {
    const auto seen = fmt::format("\nexit code {}, standard error:\n{}", outcome.code, outcome.err);
    if (outcome.code != code) return fmt::format("the exit code should be {}{}", code, seen);
    if (!outcome.err.starts_with("wasp: error: ")) return "no 'wasp: error: …'" + seen;
    if (std::ranges::count(outcome.err, '\n') != 1) return "not one line" + seen;
    if (outcome.err.find(message) == std::string::npos)
        return fmt::format("'{}' is missing{}", message, seen);
    return {};
}

}  // namespace wasp::test
