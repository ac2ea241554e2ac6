/// Which classes a model takes for which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/model.hpp"
#include "scorer.hpp"

namespace wasp {

class Confusion {
public:
    /// Of `model`, which `scorer` scores, on all images of that.
    Confusion(Model& model, Scorer& scorer);

    /// Accuracy and loss, a table of the classes, and the matrix if it fits on a screen.
    std::string text() const;

private:
    std::int64_t count(int label, int answer) const {
        return counts_[static_cast<std::size_t>(label * classes_ + answer)];
    }

    int classes_;
    Score score_;
    std::vector<std::int64_t> counts_;  // (label, answer)
};

}  // namespace wasp
