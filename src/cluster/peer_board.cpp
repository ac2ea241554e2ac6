#include "cluster/peer_board.hpp"

#include <array>
#include <bit>

#include "base/error.hpp"

namespace wasp {

namespace {

// What goes with a model, as floats in a window: their bits, never their values, matter.
struct Header {
    std::int64_t step = 0;
    float loss = 0;
    std::array<std::byte, 52> rest_of_line{};
};
constexpr std::size_t header_floats = sizeof(Header) / sizeof(float);
using HeaderBits = std::array<float, header_floats>;

// Whole blocks: slots never share a lock.
std::size_t stride(std::size_t length) {
    return (header_floats + length + Window::block - 1) / Window::block * Window::block;
}

// A slot's sequence number is odd while it is written: after publication n, the k-th of its slot,
// it is 2k.
struct Slot {
    std::size_t index;
    std::int64_t sequence;
};
Slot slot_of(std::int64_t number, std::size_t slots) {
    const auto before = static_cast<std::uint64_t>(number - 1);
    return {before % slots, static_cast<std::int64_t>(before / slots + 1) * 2};
}

}  // namespace

PeerBoard::PeerBoard(Cluster& cluster, std::size_t length)
    : cluster_(cluster),
      length_(length),
      window_(cluster.make_window(slots * stride(length))),
      numbers_(cluster.make_counters(slots + 1)) {}

void PeerBoard::publish(std::int64_t step, float loss, std::span<const float> model) {
    ENSURE(model.size() == length_, "a board for {} weights was given {}", length_, model.size());
    const int me = cluster_.rank();
    const Header header{.step = step, .loss = loss};
    const auto bits = std::bit_cast<HeaderBits>(header);
    const Slot slot = slot_of(++published_, slots);
    numbers_->fetch_add(me, slot.index, 1);
    window_->put(me, slot.index * stride(length_), bits);
    window_->put(me, slot.index * stride(length_) + header_floats, model);
    numbers_->fetch_add(me, slot.index, 1);
    numbers_->fetch_add(me, slots, 1);
}

std::int64_t PeerBoard::publications(int rank) {
    return numbers_->read(rank, slots);
}

std::optional<Publication> PeerBoard::look(int rank, std::span<float> model) {
    std::optional<Publication> seen;
    bool none = false;
    // Whom I look at may publish more often than I can look: then I am late, and look again.
    wait_until(
        cluster_,
        [&] {
            const std::int64_t newest = publications(rank);
            none = newest == 0;
            if (!none) seen = look(rank, newest, model);
            return none || seen.has_value();
        },
        [&] { return fmt::format("rank {} to keep a publication while I read it", rank); });
    return seen;
}

std::optional<Publication> PeerBoard::look(int rank, std::int64_t number, std::span<float> model) {
    ENSURE(model.size() == length_, "a board of {} weights was asked for {}", length_,
           model.size());
    if (number < 1) return {};
    const Slot slot = slot_of(number, slots);
    if (numbers_->read(rank, slot.index) != slot.sequence) return {};
    HeaderBits bits{};
    window_->get(rank, slot.index * stride(length_), bits);
    window_->get(rank, slot.index * stride(length_) + header_floats, model);
    if (numbers_->read(rank, slot.index) != slot.sequence) return {};
    const auto header = std::bit_cast<Header>(bits);
    return Publication{.number = number, .step = header.step, .loss = header.loss};
}

}  // namespace wasp
