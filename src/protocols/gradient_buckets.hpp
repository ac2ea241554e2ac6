/// Slices of a gradient, final in whatever order, put together into buckets from its end down: the
/// same buckets in the same order on every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/error.hpp"

namespace wasp {

class GradientBuckets {
public:
    /// Floats, 2 MiB; buckets begin at its multiples.
    static constexpr std::size_t largest = std::size_t{1} << 19U;

    explicit GradientBuckets(std::size_t length) : length_(length) { restart(); }

    /// For the next gradient.
    void restart() {
        left_ = final_from_ = length_;
        ahead_.clear();
    }
    bool started() const { return final_from_ < length_ || !ahead_.empty(); }
    bool complete() const { return left_ == 0; }

    /// gradient[offset, offset + count) is final: calls send(offset, count) for each bucket that
    /// now is.
    template <class Send>
    void add(std::size_t offset, std::size_t count, Send send) {
        ASSERT(offset + count <= final_from_, "the slice {} + {} twice", offset, count);
        ahead_.push_back({offset, count});
        for (auto next = touching(); next != ahead_.end(); next = touching()) {
            final_from_ = next->offset;
            ahead_.erase(next);
        }
        while (left_ > 0) {
            const std::size_t size = (left_ - 1) % largest + 1;
            if (left_ - size < final_from_) return;
            left_ -= size;
            send(left_, size);
        }
    }

private:
    struct Slice {
        std::size_t offset, count;
    };
    std::vector<Slice>::iterator touching() {
        return std::ranges::find_if(
            ahead_, [this](const Slice& s) { return s.offset + s.count == final_from_; });
    }

    std::size_t length_;
    std::size_t left_ = 0;        // [0, left_) has not been sent
    std::size_t final_from_ = 0;  // [final_from_, length) is final
    std::vector<Slice> ahead_;    // final, below that
};

}  // namespace wasp
