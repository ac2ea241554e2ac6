#include "protocols/sub_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/aligned.hpp"
#include "base/error.hpp"

namespace wasp {

namespace {

/// A window of the whole cluster, whose ranks are called by their numbers among the members.
class MembersWindow final : public Window {
public:
    MembersWindow(std::unique_ptr<Window> whole, std::vector<int> members)
        : whole_(std::move(whole)), members_(std::move(members)) {}

    void get(int rank, std::size_t offset, std::span<float> out) override {
        whole_->get(member(rank), offset, out);
    }
    void put(int rank, std::size_t offset, std::span<const float> in) override {
        whole_->put(member(rank), offset, in);
    }
    void add(int rank, std::size_t offset, float scale, std::span<const float> in) override {
        whole_->add(member(rank), offset, scale, in);
    }
    void get_all(std::span<const Source> sources) override {
        std::vector<Source> renamed(sources.begin(), sources.end());
        for (Source& source : renamed) source.rank = member(source.rank);
        whole_->get_all(renamed);
    }
    void add_all(float scale, std::span<const Target> targets) override {
        std::vector<Target> renamed(targets.begin(), targets.end());
        for (Target& target : renamed) target.rank = member(target.rank);
        whole_->add_all(scale, renamed);
    }

private:
    int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

    std::unique_ptr<Window> whole_;
    std::vector<int> members_;
};

class MembersCounters final : public Counters {
public:
    MembersCounters(std::unique_ptr<Counters> whole, std::vector<int> members)
        : whole_(std::move(whole)), members_(std::move(members)) {}

    std::int64_t read(int rank, std::size_t index) override {
        return whole_->read(member(rank), index);
    }
    void read(int rank, std::size_t first, std::span<std::int64_t> out) override {
        whole_->read(member(rank), first, out);
    }
    std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) override {
        return whole_->fetch_add(member(rank), index, delta);
    }

private:
    int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

    std::unique_ptr<Counters> whole_;
    std::vector<int> members_;
};

constexpr std::size_t least_desk = 4096;  // floats

}  // namespace

SubCluster::SubCluster(Cluster& whole, std::vector<int> members, std::size_t longest)
    : ForwardingCluster(whole),
      members_(std::move(members)),
      place_(whole.place()),
      longest_(std::max(longest, least_desk)),
      desk_(make_window(longest_)),
      arrivals_(make_counters(1)) {
    const auto me = std::ranges::find(members_, whole.rank());
    ENSURE(me != members_.end(), "rank {} makes a cluster that it is not in", whole.rank());
    place_.rank = static_cast<int>(me - members_.begin());
    place_.ranks = static_cast<int>(members_.size());
}

void SubCluster::barrier() {
    const std::int64_t wanted = ++meetings_ * size();
    arrivals_->fetch_add(0, 0, 1);
    wait_until(
        *this, [&] { return arrivals_->read(0, 0) >= wanted; },
        [&] {
            return fmt::format("{} rank(s) of a group of {}", wanted - arrivals_->read(0, 0),
                               size());
        });
}

void SubCluster::sum(std::span<float> values) {
    sum_all(values);
}

void SubCluster::sum(std::span<double> values) {
    sum_all(values);
}

/// Everyone adds up what lies on all desks, in the order of ranks: the same bits everywhere.
template <class Number>
void SubCluster::sum_all(std::span<Number> values) {
    const std::size_t most = longest_ * sizeof(float) / sizeof(Number);
    AlignedFloats bits(std::min(values.size_bytes() / sizeof(float), longest_));
    for (std::size_t begin = 0; begin < values.size(); begin += most) {
        const auto part = values.subspan(begin, std::min(most, values.size() - begin));
        const auto used = std::span(bits).first(part.size_bytes() / sizeof(float));
        std::memcpy(used.data(), part.data(), part.size_bytes());
        desk_->put(rank(), 0, used);
        barrier();
        std::ranges::fill(part, Number{0});
        for (int other = 0; other < size(); ++other) {
            desk_->get(other, 0, used);
            std::vector<Number> theirs(part.size());
            std::memcpy(theirs.data(), used.data(), part.size_bytes());
            for (std::size_t i = 0; i < part.size(); ++i) part[i] += theirs[i];
        }
        barrier();
    }
}

void SubCluster::broadcast(std::span<std::byte> bytes, int root) {
    const std::size_t most = longest_ * sizeof(float);
    AlignedFloats bits(std::min(bytes.size() / sizeof(float) + 1, longest_));
    for (std::size_t begin = 0; begin < bytes.size(); begin += most) {
        const auto part = bytes.subspan(begin, std::min(most, bytes.size() - begin));
        const auto used = std::span(bits).first((part.size() + sizeof(float) - 1) / sizeof(float));
        if (rank() == root) {
            std::memcpy(used.data(), part.data(), part.size());
            desk_->put(root, 0, used);
        }
        barrier();
        desk_->get(root, 0, used);
        std::memcpy(part.data(), used.data(), part.size());
        barrier();
    }
}

/// A broadcast of each member in turn: enough for what is small and rare.
std::vector<std::vector<std::byte>> SubCluster::gather(std::span<const std::byte> bytes, int root) {
    std::vector<std::vector<std::byte>> all;
    for (int sender = 0; sender < size(); ++sender) {
        std::uint64_t count = bytes.size();
        broadcast(std::as_writable_bytes(std::span(&count, 1)), sender);
        std::vector<std::byte> letter(count);
        if (sender == rank()) std::ranges::copy(bytes, letter.begin());
        broadcast(letter, sender);
        if (rank() == root) all.push_back(std::move(letter));
    }
    return all;
}

std::unique_ptr<Window> SubCluster::make_window(std::size_t length) {
    return std::make_unique<MembersWindow>(inner().make_window(length), members_);
}

std::unique_ptr<Counters> SubCluster::make_counters(std::size_t count) {
    return std::make_unique<MembersCounters>(inner().make_counters(count), members_);
}

}  // namespace wasp
