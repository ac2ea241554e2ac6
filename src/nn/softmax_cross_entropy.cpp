#include "softmax_cross_entropy.hpp"

#include <cmath>

#include "base/error.hpp"

namespace wasp::nn {

namespace {

/// The logits of one image and their gradient; consecutive classes lie `lanes` floats apart.
struct Image {
    const float* logits;
    float* gradient;
    int classes, lanes;
    int at(int c) const { return c * lanes; }
};

int largest_class(const Image& image) {
    int best = 0;
    for (int c = 1; c < image.classes; ++c)
        if (image.logits[image.at(c)] > image.logits[image.at(best)]) best = c;
    return best;
}

void add_image(const Image& image, int label, float factor, Score& score) {
    const int predicted = largest_class(image);
    const float largest = image.logits[image.at(predicted)];  // exp() of the rest can't overflow
    float sum = 0;
    for (int c = 0; c < image.classes; ++c)
        sum += image.gradient[image.at(c)] = std::exp(image.logits[image.at(c)] - largest);
    for (int c = 0; c < image.classes; ++c) image.gradient[image.at(c)] *= factor / sum;
    image.gradient[image.at(label)] -= factor;

    score.loss_sum += std::log(sum) - (image.logits[image.at(label)] - largest);
    score.correct += predicted == label ? 1 : 0;
    ++score.images;
}

}  // namespace

Score softmax_cross_entropy(const Activations& logits, std::span<const int> labels, float factor,
                            const Activations& gradient) {
    const int lanes = logits.lanes, classes = logits.shape.count();
    Score score;
    for (int group = 0; group < logits.groups; ++group)
        for (int lane = 0; lane < lanes; ++lane) {
            const Image image{logits.data + group * logits.group_step + lane,
                              gradient.data + group * gradient.group_step + lane, classes, lanes};
            const auto index = static_cast<std::size_t>(group * lanes + lane);
            if (index < labels.size()) {
                ASSERT(labels[index] >= 0 && labels[index] < classes, "label {} of {} classes",
                       labels[index], classes);
                add_image(image, labels[index], factor, score);
            } else {
                for (int c = 0; c < classes; ++c) image.gradient[image.at(c)] = 0;
            }
        }
    return score;
}

}  // namespace wasp::nn
