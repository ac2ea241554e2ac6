#include "mpi_news.hpp"

#include <algorithm>

#include "base/aligned.hpp"

namespace wasp {

namespace {

constexpr std::size_t looks_a_distance = 4;

std::size_t distances(std::size_t nodes) {
    std::size_t count = 0;
    while ((std::size_t{1} << count) < nodes) ++count;
    return count;
}

std::size_t table_bytes(std::size_t ranks) {
    return ranks * sizeof(HeartbeatRecord);
}

}  // namespace

std::size_t MpiNews::bytes(int ranks) {
    return table_bytes(static_cast<std::size_t>(ranks)) + cache_line;
}

MpiNews::MpiNews(std::span<std::byte> memory, std::vector<std::vector<int>> ranks, int node, int me)
    : memory_(memory),
      ranks_(std::move(ranks)),
      node_(static_cast<std::size_t>(node)),
      me_(static_cast<std::size_t>(me)),
      teller_(node_ + 1) {
    std::size_t count = 0;
    for (const auto& of_node : ranks_) count += of_node.size();
    table_ = {reinterpret_cast<HeartbeatRecord*>(memory.data()), count};
    failure_ = reinterpret_cast<std::atomic<std::uint64_t>*>(memory.data() + table_bytes(count));
    near_.resize(count);
    for (const int rank : ranks_[node_]) near_[static_cast<std::size_t>(rank)] = true;
    looks_.resize(looks_a_distance * distances(ranks_.size()));
}

void MpiNews::open_window(Cluster& cluster) {
    window_.emplace(cluster, memory_);
}

void MpiNews::get_on(double seconds, double limit) {
    constexpr double tests_a_period = 8;
    const double period = Heartbeats::period(limit);  // the limit may have been changed
    if (!window_ || seconds < last_test_ + period / tests_a_period) return;
    last_test_ = seconds;
    for (auto& look : looks_) {
        if (look.request == MPI_REQUEST_NULL) continue;
        int done = 0;
        mpi_check(MPI_Test(&look.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) take_in(look);
    }
    if (seconds < last_look_ + period) return;
    last_look_ = seconds;
    look_at(round_ % distances(ranks_.size()));
    ++round_;
}

/// By any rank there that does not still owe an answer: it may be suspended.
void MpiNews::look_at(std::size_t distance) {
    const auto looks = std::span(looks_).subspan(looks_a_distance * distance, looks_a_distance);
    const auto owes = [&](int rank) {
        return std::ranges::any_of(looks, [rank](const Look& look) {
            return look.request != MPI_REQUEST_NULL && look.whom == rank;
        });
    };
    const auto look = std::ranges::find(looks, MPI_REQUEST_NULL, &Look::request);
    const auto& others = ranks_[(node_ + (std::size_t{1} << distance)) % ranks_.size()];
    const std::size_t first = me_ + round_ / distances(ranks_.size());
    for (std::size_t i = 0; i < others.size() && look != looks.end(); ++i) {
        look->whom = others[(first + i) % others.size()];
        if (owes(look->whom)) continue;
        look->words.resize(words());
        const int count = static_cast<int>(words());
        mpi_check(MPI_Rget(look->words.data(), count, MPI_UINT64_T, look->whom, 0, count,
                           MPI_UINT64_T, window_->handle(), &look->request),
                  "MPI_Rget");
        return;
    }
}

/// The first word of a record only grows.
void MpiNews::take_in(const Look& look) {
    for (std::size_t rank = 0; rank < table_.size(); ++rank) {
        const auto news =
            std::span(look.words).subspan(rank * HeartbeatRecord::words, HeartbeatRecord::words);
        auto& known = table_[rank].word;
        if (near_[rank] || news[0] <= known[0].load(std::memory_order_relaxed)) continue;
        for (std::size_t i = 0; i < news.size(); ++i)
            known[i].store(news[i], std::memory_order_relaxed);
    }
}

void MpiNews::tell_failure() {
    if (!window_) return;
    for (std::size_t node = 0; node < ranks_.size(); ++node) {
        if (node == node_) continue;
        for (const int rank : ranks_[node]) {
            MPI_Request told = MPI_REQUEST_NULL;  // never asked after: this rank is about to end
            mpi_check(MPI_Rput(&teller_, 1, MPI_UINT64_T, rank,
                               static_cast<MPI_Aint>(table_bytes(table_.size())), 1, MPI_UINT64_T,
                               window_->handle(), &told),
                      "MPI_Rput");
        }
    }
}

}  // namespace wasp
