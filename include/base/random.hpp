/// Random streams. Each derives from (seed, purpose, rank, epoch), so that no stream depends on how
/// often another one was asked, and a run can be repeated on any machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace wasp {

/// splitmix64: small, fast, the same on every machine and standard library.
/// Satisfies std::uniform_random_bit_generator.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class RandomStream {
public:
    using result_type = std::uint64_t;

    RandomStream(std::uint64_t seed, std::string_view purpose, std::int64_t rank = 0,
                 std::int64_t epoch = 0);

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }
    result_type operator()();

    double uniform();                          ///< in [0, 1), 53 bits
    double uniform(double low, double high);   ///< in [low, high)
    double normal();                           ///< mean 0, variance 1
    std::uint64_t below(std::uint64_t limit);  ///< in [0, limit), without bias; limit > 0

private:
    std::uint64_t state_;
};

/// Fisher and Yates, the same permutation on every standard library.   items: any random-access
/// range.
template <class Range>
void shuffle(Range& items, RandomStream& random) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace wasp
