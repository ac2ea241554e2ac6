#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "data/import.hpp"
#include "own_file.hpp"

namespace wasp {

namespace {

constexpr int waves = 6;            // that make up a prototype
constexpr double highest_wave = 3;  // periods over an image
constexpr double contrast = 45;     // standard deviations, of 255
constexpr double noise = 30;
constexpr double largest_shift = 0.05;  // of the side, in each direction

/// Sine and cosine of a phase.
struct Turn {
    explicit Turn(double periods)
        : sine(std::sin(2 * std::numbers::pi * periods)),
          cosine(std::cos(2 * std::numbers::pi * periods)) {}
    double sine, cosine;
};

struct Wave {
    double x, y, phase;  ///< periods over the width, over the height; at the corner
};

/// About normal, variance 1: a sum of four uniform numbers.
double rough_normal(RandomStream& random) {
    std::uint64_t bits = random();
    double sum = 0;
    for (int i = 0; i < 4; ++i, bits >>= 16U) sum += static_cast<double>(bits & 0xffffU);
    return (sum / 65'535 - 2) * std::numbers::sqrt3;
}

/// What the images of one class have in common: in each channel a sum of a few waves.
class Prototype {
public:
    Prototype(const SynthSetup& setup, int number) : shape_(setup.shape) {
        RandomStream random(setup.seed, "prototype", number);
        for (int i = 0; i < waves * shape_.channels; ++i)
            waves_.push_back({random.uniform(-highest_wave, highest_wave),
                              random.uniform(-highest_wave, highest_wave), random.uniform()});
    }

    /// One image, appended.
    void draw(RandomStream& random, std::vector<std::byte>& into) const {
        const double right = random.uniform(-largest_shift, largest_shift);
        const double down = random.uniform(-largest_shift, largest_shift);
        const std::size_t plane = shape_.pixels() / static_cast<std::size_t>(shape_.channels);
        for (std::size_t c = 0; c < static_cast<std::size_t>(shape_.channels); ++c) {
            std::vector<double> sum(plane);
            for (const auto& wave : std::span(waves_).subspan(c * waves, waves))
                add_wave(wave, right, down, sum);
            for (const double value : sum) {
                const double pixel = 127.5 + contrast * value / std::sqrt(waves / 2.0) +
                                     noise * rough_normal(random);
                into.push_back(static_cast<std::byte>(std::lround(std::clamp(pixel, 0.0, 255.0))));
            }
        }
    }

private:
    /// By cos(a + b) = cos a cos b − sin a sin b, where a depends on the row and b on the column.
    void add_wave(const Wave& wave, double right, double down, std::vector<double>& sum) const {
        std::vector<Turn> columns;
        for (int k = 0; k < shape_.width; ++k)
            columns.emplace_back(wave.x * (double(k) / shape_.width + right));
        auto pixel = sum.begin();
        for (int i = 0; i < shape_.height; ++i) {
            const Turn row(wave.y * (double(i) / shape_.height + down) + wave.phase);
            for (const auto& column : columns)
                *pixel++ += row.cosine * column.cosine - row.sine * column.sine;
        }
    }

    ImageShape shape_;
    std::vector<Wave> waves_;
};

HeldSplit draw_split(const std::vector<Prototype>& prototypes, std::size_t image_bytes,
                     std::size_t count, RandomStream random) {
    HeldSplit split;
    split.labels.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        split.labels[i] = static_cast<std::uint16_t>(i % prototypes.size());
    shuffle(split.labels, random);
    split.images.reserve(count * image_bytes);
    for (const auto label : split.labels) prototypes[label].draw(random, split.images);
    return split;
}

}  // namespace

std::string synthesise(const SynthSetup& setup, const std::filesystem::path& out) {
    const auto& [classes, shape, train, test, seed] = setup;
    constexpr int largest_side = 4096;
    const bool sides = std::min({shape.channels, shape.height, shape.width}) > 0 &&
                       shape.channels <= 16 && std::max(shape.height, shape.width) <= largest_side;
    REQUIRE(sides, "shape ({},{},{}): expected 1 to 16 channels, and sides of 1 to {}",
            shape.channels, shape.height, shape.width, largest_side);
    REQUIRE(classes >= 2 && classes <= 1000, "{} classes: expected 2 to 1000", classes);
    constexpr std::size_t most_bytes = std::size_t{1} << 34U;
    REQUIRE(train > 0 && test > 0, "expected at least one image for training and one for the test");
    REQUIRE(std::max(train, test) <= most_bytes / shape.pixels() / 2,
            "{} + {} images of {} bytes are more than {} GiB", train, test, shape.pixels(),
            most_bytes >> 30U);
    check_target(out);
    std::vector<Prototype> prototypes;
    for (int i = 0; i < classes; ++i) prototypes.emplace_back(setup, i);
    return write_own_file(
        out, shape, classes,
        draw_split(prototypes, shape.pixels(), train, RandomStream(seed, "train images")),
        draw_split(prototypes, shape.pixels(), test, RandomStream(seed, "test images")));
}

}  // namespace wasp
