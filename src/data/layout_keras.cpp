// The arrays of keras.datasets.*.load_data() under their customary names, in any case:
// x_train, y_train, x_test, y_test.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.hpp"
#include "layout.hpp"

namespace wasp {

namespace {

/// "/x_train", "/X_train", "/X_TRAIN" or the like; empty: none.
std::string find_name(const h5::File& file, const std::string& name) {
    std::string first_upper = name;
    first_upper[0] = static_cast<char>(std::toupper(first_upper[0]));
    std::string upper = name;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    std::string title = first_upper;  // X_Train
    title[2] = upper[2];
    for (const auto& spelling : {name, first_upper, title, upper})
        if (file.has("/" + spelling)) return "/" + spelling;
    return {};
}

}  // namespace

std::optional<Plan> recognise_keras(const h5::File& file) {
    std::array<std::string, 4> found;
    constexpr std::array names{"x_train", "y_train", "x_test", "y_test"};
    std::ranges::transform(names, found.begin(),
                           [&](const char* name) { return find_name(file, name); });
    if (std::ranges::all_of(found, &std::string::empty)) return std::nullopt;
    for (std::size_t i = 0; i < names.size(); ++i)
        REQUIRE(!found[i].empty(), "{}: has other arrays of the Keras layout, but no '{}'",
                file.path().string(), names[i]);
    const SplitPlan train{{found[0]}, {found[1]}};
    const SplitPlan test{{found[2]}, {found[3]}};
    return Plan{.layout = "Keras", .train = train, .test = test};
}

}  // namespace wasp
