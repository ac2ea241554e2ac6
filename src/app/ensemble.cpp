#include "ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace wasp {

namespace {

/// logits → probabilities, of one image.
void softmax(std::span<float> values) {
    const float largest = std::ranges::max(values);
    float sum = 0;
    for (float& value : values) sum += value = std::exp(value - largest);
    for (float& value : values) value /= sum;
}

std::size_t best_of(std::span<const float> probabilities) {
    return static_cast<std::size_t>(std::ranges::max_element(probabilities) -
                                    probabilities.begin());
}

/// Of all images, the pairs of models with different answers: all pairs but those that agree.
double differing_pairs(std::span<const float> votes, double models) {
    double agreeing = 0, all = 0;
    for (const float same : votes) {
        agreeing += 0.5 * static_cast<double>(same) * (static_cast<double>(same) - 1);
        all += static_cast<double>(same);  // `models` an image
    }
    return 0.5 * all * (models - 1) - agreeing;
}

/// probabilities: (classes), of one image.
void add_image(Score& score, std::span<const float> probabilities, int label) {
    constexpr float least = 1e-30F;  // the loss stays finite
    const auto answer = static_cast<int>(best_of(probabilities));
    const float truth = probabilities[static_cast<std::size_t>(label)];
    score.loss_sum -= std::log(static_cast<double>(std::max(truth, least)));
    score.correct += answer == label ? 1 : 0;
    ++score.images;
}

}  // namespace

EnsembleScore score_ensemble(Run& run, Scorer& scorer) {
    constexpr std::size_t most_floats = std::size_t{1} << 22U;  // of outputs at once: 16 MiB
    const auto classes = static_cast<std::size_t>(run.model.classes());
    const std::size_t chunk = std::max<std::size_t>(1, most_floats / classes);
    const float share = 1.0F / static_cast<float>(run.team.workers);
    EnsembleScore result;
    std::vector<float> outputs;
    std::vector<float> votes;  // of the models, for each class of each image
    double differing = 0;
    for (std::size_t first = 0; first < scorer.images(); first += chunk) {
        const std::size_t count = std::min(chunk, scorer.images() - first);
        outputs.assign(count * classes, 0.0F);
        const auto image = [&](std::size_t i) {
            return std::span(outputs).subspan(i * classes, classes);
        };
        if (run.team.worker) {
            const Score score = scorer.score(first, count, outputs);
            result.mine.loss_sum += score.loss_sum;
            result.mine.correct += score.correct;
            result.mine.images += score.images;
            for (std::size_t i = 0; i < count; ++i) softmax(image(i));
        }
        votes.assign(outputs.size(), 0.0F);
        for (std::size_t i = 0; run.team.worker && i < count; ++i)
            votes[i * classes + best_of(image(i))] = 1;
        run.cluster.sum(votes);
        differing += differing_pairs(votes, run.team.workers);
        run.cluster.sum(outputs);
        for (std::size_t i = 0; i < count; ++i) {
            for (float& probability : image(i)) probability *= share;
            add_image(result.ensemble, image(i), scorer.label(first + i));
        }
    }
    const double pairs = 0.5 * run.team.workers * (run.team.workers - 1);
    if (pairs > 0 && scorer.images() > 0)
        result.disagreement = differing / pairs / static_cast<double>(scorer.images());
    return result;
}

}  // namespace wasp
