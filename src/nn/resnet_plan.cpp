#include "resnet_plan.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace wasp::nn {

namespace {

enum class Kind {
    basic,       ///< two 3×3
    bottleneck,  ///< 1×1, 3×3, 1×1 to four times the channels
};

struct Family {
    std::string_view name;
    Kind kind;
    int width;          ///< channels of the first stage; each further one has twice as many
    Shortcut shortcut;  ///< where the size changes
    std::array<int, 4> blocks;
};

constexpr auto families = std::to_array<Family>({
    {"resnet20", Kind::basic, 16, Shortcut::padded, {3, 3, 3, 0}},
    {"resnet32", Kind::basic, 16, Shortcut::padded, {5, 5, 5, 0}},
    {"resnet44", Kind::basic, 16, Shortcut::padded, {7, 7, 7, 0}},
    {"resnet56", Kind::basic, 16, Shortcut::padded, {9, 9, 9, 0}},
    {"resnet110", Kind::basic, 16, Shortcut::padded, {18, 18, 18, 0}},
    {"resnet18", Kind::basic, 64, Shortcut::projection, {2, 2, 2, 2}},
    {"resnet34", Kind::basic, 64, Shortcut::projection, {3, 4, 6, 3}},
    {"resnet50", Kind::bottleneck, 64, Shortcut::projection, {3, 4, 6, 3}},
    {"resnet101", Kind::bottleneck, 64, Shortcut::projection, {3, 4, 23, 3}},
    {"resnet152", Kind::bottleneck, 64, Shortcut::projection, {3, 8, 36, 3}},
});

/// Appends units in the order of the flat buffers.
class Planner {
public:
    Planner(const ModelSetup& setup)
        : images_(setup.largest_batch),
          channels_(setup.image.channels),
          height_(setup.image.height),
          width_(setup.image.width) {}

    ResNetUnit unit(const std::string& convolution, const std::string& norm, int outputs,
                    int kernel, int stride) {
        const ResNetUnit made = at_input(convolution, norm, outputs, kernel, stride);
        channels_ = outputs;
        height_ = made.convolution.output_height();
        width_ = made.convolution.output_width();
        return made;
    }

    void block(const Family& family, const std::string& name, int width, int stride) {
        const Planner input = *this;
        ResNetBlock block;
        const auto add = [&](int outputs, int kernel, int step) {
            const std::size_t number = block.units.size() + 1;
            block.units.push_back(unit(fmt::format("{}.conv{}", name, number),
                                       fmt::format("{}.bn{}", name, number), outputs, kernel,
                                       step));
        };
        if (family.kind == Kind::basic) {
            add(width, 3, stride);
            add(width, 3, 1);
        } else {  // the stride at the 3×3, as in torchvision
            add(width, 1, 1);
            add(width, 3, stride);
            add(4 * width, 1, 1);
        }
        if (stride != 1 || input.channels_ != channels_) {
            block.shortcut = family.shortcut;
            if (block.shortcut == Shortcut::projection) {
                const int outputs = channels_;
                channels_ = input.channels_, height_ = input.height_, width_ = input.width_;
                block.projection =
                    unit(name + ".downsample.0", name + ".downsample.1", outputs, 1, stride);
            }
        }
        plan_.blocks.push_back(std::move(block));
    }

    void stem(int outputs) {
        plan_.stem = unit("conv1", "bn1", outputs, 3, 1);
        plan_.stem.convolution.of_pixels = true;
    }

    ResNetPlan take(int classes) {
        const auto features = static_cast<std::size_t>(channels_);
        const auto outputs = static_cast<std::size_t>(classes);
        plan_.features = channels_;
        plan_.head_weights = plan_.weights;
        parameter("fc.weight", {outputs, features});
        parameter("fc.bias", {outputs});
        return std::move(plan_);
    }

private:
    ResNetUnit at_input(const std::string& convolution, const std::string& norm, int outputs,
                        int kernel, int stride) {
        const ResNetUnit unit{.convolution = {.images = images_,
                                              .inputs = channels_,
                                              .outputs = outputs,
                                              .height = height_,
                                              .width = width_,
                                              .kernel = kernel,
                                              .stride = stride},
                              .weights = plan_.weights,
                              .statistics = plan_.state};
        const auto side = static_cast<std::size_t>(kernel);
        parameter(convolution + ".weight",
                  {unit.channels(), static_cast<std::size_t>(channels_), side, side});
        parameter(norm + ".weight", {unit.channels()});
        parameter(norm + ".bias", {unit.channels()});
        for (const char* name : {".running_mean", ".running_var"}) {
            plan_.states.push_back({norm + name, {unit.channels()}, plan_.state, unit.channels()});
            plan_.state += unit.channels();
        }
        return unit;
    }

    void parameter(const std::string& name, std::vector<std::size_t> shape) {
        std::size_t count = 1;
        for (const std::size_t size : shape) count *= size;
        plan_.parameters.push_back({name, std::move(shape), plan_.weights, count});
        plan_.weights += count;
    }

    ResNetPlan plan_;
    int images_, channels_, height_, width_;
};

}  // namespace

ResNetPlan plan_resnet(std::string_view name, const ModelSetup& setup) {
    const auto* const family = std::ranges::find(families, name, &Family::name);
    ENSURE(family != families.end(), "bug: {} is no ResNet", name);
    Planner planner(setup);
    planner.stem(family->width);
    for (std::size_t stage = 0; stage < family->blocks.size(); ++stage)
        for (int i = 0; i < family->blocks[stage]; ++i)
            planner.block(*family, fmt::format("layer{}.{}", stage + 1, i), family->width << stage,
                          stage > 0 && i == 0 ? 2 : 1);
    return planner.take(setup.classes);
}

double ResNetPlan::flops() const {
    // Forward and both gradients, a multiplication and an addition each; the stem has no gradient
    // of its input.
    double multiplications = 2 * stem.convolution.multiplications();
    for (const auto& block : blocks) {
        for (const auto& unit : block.units)
            multiplications += 3 * unit.convolution.multiplications();
        if (block.shortcut == Shortcut::projection)
            multiplications += 3 * block.projection.convolution.multiplications();
    }
    multiplications += 3 * static_cast<double>(weights - head_weights);
    return 2 * multiplications;
}

std::vector<ConvolutionShape> ResNetPlan::shapes() const {
    std::vector<ConvolutionShape> shapes{stem.convolution};
    const auto add = [&](const ConvolutionShape& shape) {
        if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
    };
    for (const auto& block : blocks) {
        for (const auto& unit : block.units) add(unit.convolution);
        if (block.shortcut == Shortcut::projection) add(block.projection.convolution);
    }
    return shapes;
}

}  // namespace wasp::nn
