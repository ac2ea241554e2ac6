// The table of models. Adding one: a function that lists its layers, and a row.
#include <array>

#include "activation.hpp"
#include "base/error.hpp"
#include "base/nearest.hpp"
#include "convolution.hpp"
#include "dropout.hpp"
#include "linear.hpp"
#include "max_pooling.hpp"
#include "mean_pooling.hpp"
#include "network.hpp"
#include "resnet.hpp"
#include "tensor/parallel.hpp"

namespace wasp::nn {

namespace {

/// Puts layers one on top of the other, with PyTorch's names: conv1, conv2, …, fc1, fc2, ….
class Builder {
public:
    Builder(std::string_view model, const ModelSetup& setup)
        : model_(model),
          setup_(setup),
          shape_{setup.image.channels, setup.image.height, setup.image.width} {}

    Builder& convolution(int outputs, int kernel, int padding = 0) {
        const std::string name = fmt::format("conv{}", ++convolutions_);
        require(kernel - 2 * padding, name);
        return add<Convolution>(name, shape_, outputs, kernel, padding);
    }
    Builder& max_pooling(int window) {
        require(window, fmt::format("the pooling after conv{}", convolutions_));
        return add<MaxPooling>(shape_, window);
    }
    Builder& mean_pooling(int window) {
        require(window, fmt::format("the pooling after conv{}", convolutions_));
        return add<MeanPooling>(shape_, window);
    }
    Builder& linear(int outputs) {
        return add<Linear>(fmt::format("fc{}", ++linears_), shape_, outputs);
    }
    Builder& relu() { return add<Relu>(shape_); }
    Builder& tanh() { return add<Tanh>(shape_); }
    Builder& dropout(double probability) { return add<Dropout>(shape_, probability, setup_.seed); }

    int classes() const { return setup_.classes; }
    Layers take() { return std::move(layers_); }

private:
    template <class Kind, class... Arguments>
    Builder& add(Arguments&&... arguments) {
        layers_.push_back(std::make_unique<Kind>(std::forward<Arguments>(arguments)...));
        shape_ = layers_.back()->output;
        return *this;
    }

    void require(int pixels, const std::string& what) const {
        REQUIRE(
            shape_.height >= pixels && shape_.width >= pixels,
            "{} can't take images of {} × {}: {} meets only {} × {} of at least {} × {} pixels; "
            "take larger images, or --model mlp",
            model_, setup_.image.height, setup_.image.width, what, shape_.height, shape_.width,
            pixels, pixels);
    }

    std::string_view model_;
    const ModelSetup& setup_;
    Shape shape_;
    int convolutions_ = 0, linears_ = 0;
    Layers layers_;
};

// max(relu(x)) = relu(max(x)), and so are the gradients: after pooling there is a quarter to do.
void lenet5(Builder& net) {
    net.convolution(6, 5, 2).max_pooling(2).relu();
    net.convolution(16, 5).max_pooling(2).relu();
    net.linear(120).relu().linear(84).relu().linear(net.classes());
}

void lenet5_caffe(Builder& net) {
    net.convolution(20, 5).max_pooling(2);
    net.convolution(50, 5).max_pooling(2);
    net.linear(500).relu().linear(net.classes());
}

void lenet5_tanh(Builder& net) {
    net.convolution(6, 5, 2).tanh().mean_pooling(2);
    net.convolution(16, 5).tanh().mean_pooling(2);
    net.linear(120).tanh().linear(84).tanh().linear(net.classes());
}

void mlp(Builder& net) {
    net.linear(128).relu().linear(net.classes());
}

void mlp_dropout(Builder& net) {
    net.linear(512).relu().dropout(0.5).linear(net.classes());
}

struct Row {
    std::string_view name;
    ImageShape image;  // that it was made for
    std::unique_ptr<Model> (*make)(std::string_view name, const ModelSetup& setup);
    std::size_t (*weights)(std::string_view name, const ModelSetup& setup);
    std::size_t (*bytes)(std::string_view name, const ModelSetup& setup);
    double (*flops)(std::string_view name, const ModelSetup& setup);  // of an image
    std::string_view text;
};

template <void (*build)(Builder&)>
std::unique_ptr<Model> network(std::string_view name, const ModelSetup& setup) {
    REQUIRE(setup.precision == Precision::float32, "{} computes in float32 only", name);
    Builder builder(name, setup);
    build(builder);
    return std::make_unique<Network>(std::string(name), setup, builder.take());
}

template <void (*build)(Builder&)>
std::size_t network_weights(std::string_view name, const ModelSetup& setup) {
    return network<build>(name, setup)->weights().size();
}

/// Weights, and a gradient for each thread; activations are small beside them.
template <void (*build)(Builder&)>
std::size_t network_bytes(std::string_view name, const ModelSetup& setup) {
    const auto copies = static_cast<std::size_t>(1 + available_threads());
    return network_weights<build>(name, setup) * copies * sizeof(float);
}

template <void (*build)(Builder&)>
double network_flops(std::string_view name, const ModelSetup& setup) {
    return network<build>(name, setup)->flops_per_image();
}

std::unique_ptr<Model> resnet(std::string_view name, const ModelSetup& setup) {
    return std::make_unique<ResNet>(std::string(name), setup);
}

std::size_t resnet_weights(std::string_view name, const ModelSetup& setup) {
    return plan_resnet(name, setup).weights;
}

double resnet_flops(std::string_view name, const ModelSetup& setup) {
    return plan_resnet(name, setup).flops();
}

constexpr std::string_view cifar_text =
    "He et al. 2015, section 4.2: 16, 32, 64 channels, option A";
constexpr std::string_view basic_text =
    "He et al. 2015, 64 to 512 channels in blocks of two 3×3; stem 3×3 for small images";
constexpr std::string_view bottleneck_text =
    "He et al. 2015, 256 to 2048 channels in bottlenecks; stem 3×3 for small images";

template <void (*build)(Builder&)>
constexpr Row network_row(std::string_view name, std::string_view text) {
    return {name,
            {1, 28, 28},
            network<build>,
            network_weights<build>,
            network_bytes<build>,
            network_flops<build>,
            text};
}
constexpr Row resnet_row(std::string_view name, std::string_view text) {
    return {name, {3, 32, 32}, resnet, resnet_weights, estimate_resnet_bytes, resnet_flops, text};
}

constexpr auto table = std::to_array<Row>({
    network_row<lenet5>(
        "lenet5",
        "conv 6 5×5 pad 2, pool, conv 16 5×5, pool, linear 120, 84, classes; ReLU, max pooling "
        "(after LeCun et al. 1998)"),
    network_row<lenet5_caffe>(
        "lenet5-caffe",
        "conv 20 5×5, pool, conv 50 5×5, pool, linear 500, ReLU, classes; max pooling (Caffe's)"),
    network_row<lenet5_tanh>("lenet5-tanh",
                             "lenet5 with tanh and mean pooling, nearer to the paper of 1998"),
    network_row<mlp>("mlp", "linear 128, ReLU, classes"),
    network_row<mlp_dropout>("mlp-dropout", "linear 512, ReLU, dropout 0.5, classes"),
    resnet_row("resnet20", cifar_text),
    resnet_row("resnet32", cifar_text),
    resnet_row("resnet44", cifar_text),
    resnet_row("resnet56", cifar_text),
    resnet_row("resnet110", cifar_text),
    resnet_row("resnet18", basic_text),
    resnet_row("resnet34", basic_text),
    resnet_row("resnet50", bottleneck_text),
    resnet_row("resnet101", bottleneck_text),
    resnet_row("resnet152", bottleneck_text),
});

const Row& row_of(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto& row : table) {
        if (row.name == name) return row;
        names.push_back(row.name);
    }
    throw Error(ExitCode::usage, unknown_name("model", name, names));
}

}  // namespace

}  // namespace wasp::nn

namespace wasp {

namespace {

const nn::Row& checked_row(std::string_view name, const ModelSetup& setup) {
    const nn::Row& row = nn::row_of(name);
    const auto& [channels, height, width] = setup.image;
    REQUIRE(channels > 0 && height > 0 && width > 0, "images of {} × {} × {} pixels", channels,
            height, width);
    REQUIRE(setup.classes > 1, "a network for {} classes: there must be two at least",
            setup.classes);
    return row;
}

}  // namespace

void check_model_name(std::string_view name) {
    static_cast<void>(nn::row_of(name));
}

std::unique_ptr<Model> make_model(std::string_view name, const ModelSetup& setup) {
    return checked_row(name, setup).make(name, setup);
}

std::size_t estimate_bytes(std::string_view name, const ModelSetup& setup) {
    return checked_row(name, setup).bytes(name, setup);
}

std::size_t count_weights(std::string_view name, const ModelSetup& setup) {
    return checked_row(name, setup).weights(name, setup);
}

double flops_per_image(std::string_view name, const ModelSetup& setup) {
    return checked_row(name, setup).flops(name, setup);
}

ImageShape usual_image(std::string_view name) {
    return nn::row_of(name).image;
}

std::string model_help() {
    std::string help;
    for (const auto& row : nn::table) {
        const ModelSetup setup{.image = row.image};
        help += fmt::format("{:<13}{:>9} weights  {}\n", row.name, row.weights(row.name, setup),
                            row.text);
    }
    return help +
           "(weights for ten classes of images of 1 × 28 × 28, for the ResNets 3 × 32 × 32)\n";
}

}  // namespace wasp
