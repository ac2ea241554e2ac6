#include "background_sums.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

/// Of clusters that can't do better: each sum is taken when it is started.
class PromptSums final : public BackgroundSums {
public:
    explicit PromptSums(Cluster& cluster) : cluster_(cluster) {}
    void start(std::span<float> values) override { cluster_.sum(values); }
    void advance() override {}
    void finish() override {}

private:
    Cluster& cluster_;
};

}  // namespace

std::unique_ptr<BackgroundSums> Cluster::make_background_sums(std::size_t /*largest*/) {
    return std::make_unique<PromptSums>(*this);
}

std::size_t TeamSums::bytes(int members, std::size_t largest) {
    const auto n = static_cast<std::size_t>(members);
    return slots * (n * sizeof(Line) + (n + 1) * whole_lines(largest * sizeof(float)));
}

TeamSums::TeamSums(Cluster& cluster, std::unique_ptr<NodeMemory> memory, std::vector<int> ranks,
                   std::size_t largest, StartAmongNodes among_nodes)
    : cluster_(cluster),
      memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      me_(static_cast<std::size_t>(cluster.place().rank_on_node)),
      largest_(largest),
      start_among_nodes_(std::move(among_nodes)) {}

void TeamSums::start(std::span<float> values) {
    ENSURE(values.size() <= largest_, "bug: a sum of {} values, at most {}", values.size(),
           largest_);
    sums_.push_back({.values = values, .number = started_++});
    advance();
}

void TeamSums::advance() {
    for (auto& sum : sums_)
        while (get_on(sum)) ++progress_;
    while (!sums_.empty() && sums_.front().stage == Stage::done) sums_.pop_front();
}

void TeamSums::finish() {
    wait_until(
        cluster_,
        [this] {
            advance();
            return sums_.empty();
        },
        [this] { return missing(); }, [this] { return progress_; });
}

/// Does what can be done at once, and says whether that was something.
bool TeamSums::get_on(Sum& sum) {
    const bool several_nodes = cluster_.place().nodes > 1;
    switch (sum.stage) {
        case Stage::queued:
            if (sum.number >= sums_.front().number + slots) return false;
            std::ranges::copy(sum.values, staged(sum, me_).begin());
            arrive(sum, Stage::laid_down);
            return true;
        case Stage::laid_down:
            if (!have_all_arrived(sum, Stage::laid_down)) return false;
            add_up(sum);
            arrive(sum, Stage::added_up);
            return true;
        case Stage::added_up:
            if (!have_all_arrived(sum, Stage::added_up)) return false;
            if (!several_nodes) {
                take(sum);
                return true;
            }
            if (me_ == 0) {  // sums among nodes are started in the same order on all of them
                if (sum.number != next_among_nodes_) return false;
                ++next_among_nodes_;
                sum.among_nodes = start_among_nodes_(result(sum));
            }
            sum.stage = Stage::among_nodes;
            return true;
        case Stage::among_nodes:
            if (me_ == 0 ? !sum.among_nodes()
                         : line(sum, 0).arrived.load(std::memory_order_acquire) <
                               count_at(sum, Stage::done))
                return false;
            take(sum);
            return true;
        case Stage::done:
            break;
    }
    return false;
}

/// My slice of what all have laid down.
void TeamSums::add_up(const Sum& sum) {
    constexpr std::size_t floats = cache_line / sizeof(float);
    const std::size_t count = sum.values.size();
    const std::size_t share = ((count + members() - 1) / members() + floats - 1) / floats * floats;
    const std::size_t begin = std::min(me_ * share, count);
    const auto slice = result(sum).subspan(begin, std::min(share, count - begin));
    std::ranges::copy(staged(sum, 0).subspan(begin, slice.size()), slice.begin());
    for (std::size_t member = 1; member < members(); ++member)
        axpy(1.0F, staged(sum, member).subspan(begin, slice.size()), slice);
}

void TeamSums::take(Sum& sum) {
    std::ranges::copy(result(sum), sum.values.begin());
    arrive(sum, Stage::done);
}

void TeamSums::arrive(Sum& sum, Stage stage) {
    line(sum, me_).arrived.store(count_at(sum, stage), std::memory_order_release);
    sum.stage = stage;
}

bool TeamSums::have_all_arrived(const Sum& sum, Stage stage) const {
    for (std::size_t member = 0; member < members(); ++member)
        if (line(sum, member).arrived.load(std::memory_order_acquire) < count_at(sum, stage))
            return false;
    return true;
}

/// What a member's line shows when it has reached that stage of the sum.
std::uint64_t TeamSums::count_at(const Sum& sum, Stage stage) {
    constexpr auto stages = static_cast<std::uint64_t>(Stage::done);
    return sum.number / slots * stages + static_cast<std::uint64_t>(stage);
}

TeamSums::Line& TeamSums::line(const Sum& sum, std::size_t member) const {
    auto* const lines = reinterpret_cast<Line*>(memory_->bytes().data());
    return lines[sum.number % slots * members() + member];
}

std::span<float> TeamSums::staged(const Sum& sum, std::size_t member) const {
    const std::size_t part = whole_lines(largest_ * sizeof(float));
    const std::size_t index = sum.number % slots * (members() + 1) + member;
    std::byte* const start =
        memory_->bytes().data() + slots * members() * sizeof(Line) + index * part;
    return {reinterpret_cast<float*>(start), sum.values.size()};
}

std::string TeamSums::missing() const {
    const Sum& first = sums_.front();
    std::vector<int> who;
    if (first.stage != Stage::among_nodes)
        for (std::size_t i = 0; i < members(); ++i)
            if (line(first, i).arrived.load(std::memory_order_acquire) <
                count_at(first, first.stage))
                who.push_back(ranks_[i]);
    if (who.empty()) return "the other nodes to add up a part of the gradient";
    return fmt::format("rank{} {} to add up a part of the gradient", who.size() == 1 ? "" : "s",
                       fmt::join(who, ", "));
}

}  // namespace wasp
