#include "confusion.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wasp {

Confusion::Confusion(Model& model, Scorer& scorer)
    : classes_(model.classes()), counts_(static_cast<std::size_t>(classes_ * classes_)) {
    const auto classes = static_cast<std::size_t>(classes_);
    std::vector<float> logits(scorer.images() * classes);
    score_ = scorer.score(0, scorer.images(), logits);
    for (std::size_t i = 0; i < scorer.images(); ++i) {
        const auto outputs = std::span(logits).subspan(i * classes, classes);
        const auto answer = std::ranges::max_element(outputs) - outputs.begin();
        ++counts_[static_cast<std::size_t>(scorer.label(i)) * classes +
                  static_cast<std::size_t>(answer)];
    }
}

std::string Confusion::text() const {
    std::string text = fmt::format(
        "{} images: accuracy {:.2f} %, loss {:.4f}\n\nclass   images  correct  recall  precision\n",
        score_.images, 100 * score_.accuracy(), score_.loss());
    for (int label = 0; label < classes_; ++label) {
        std::int64_t images = 0, answers = 0;
        for (int other = 0; other < classes_; ++other) {
            images += count(label, other);
            answers += count(other, label);
        }
        const std::int64_t right = count(label, label);
        const auto percent = [right](std::int64_t of) {
            return of == 0 ? std::string("-")
                           : fmt::format("{:.1f} %", 100.0 * static_cast<double>(right) /
                                                         static_cast<double>(of));
        };
        text += fmt::format("{:>5}{:>9}{:>9}{:>8}{:>11}\n", label, images, right, percent(images),
                            percent(answers));
    }
    constexpr int most = 20;
    if (classes_ > most) return text;
    text += "\nlabel (row) taken for (column)\n      ";
    for (int answer = 0; answer < classes_; ++answer) text += fmt::format("{:>7}", answer);
    for (int label = 0; label < classes_; ++label) {
        text += fmt::format("\n{:>5} ", label);
        for (int answer = 0; answer < classes_; ++answer)
            text += fmt::format("{:>7}", count(label, answer));
    }
    return text + "\n";
}

}  // namespace wasp
