#include "mpi_window.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "mpi_mailbox.hpp"

namespace wasp {

namespace {

// Far pieces are cut into chunks that end with whole blocks, and taken in turns: one chunk of each
// piece, then the next of each, so that all targets are busy.
template <class Piece>
std::vector<Piece> chunks_in_turns(const std::vector<Piece>& pieces, std::size_t chunk) {
    struct Turn {
        std::size_t number;
        Piece piece;
    };
    std::vector<Turn> turns;
    for (const Piece& whole : pieces) {
        Piece rest = whole;
        auto& [rank, offset, floats] = rest;
        for (std::size_t number = 0; !floats.empty(); ++number) {
            const std::size_t count = std::min(floats.size(), chunk - offset % chunk);
            turns.push_back({number, {rank, offset, floats.first(count)}});
            offset += count;
            floats = floats.subspan(count);
        }
    }
    std::ranges::stable_sort(turns, {}, &Turn::number);
    std::vector<Piece> chunks;
    chunks.reserve(turns.size());
    for (const Turn& turn : turns) chunks.push_back(turn.piece);
    return chunks;
}

/// RMA gets under way; each in one of a few places.
class FarGets {
public:
    static constexpr std::size_t chunk = 64 * Window::block;  // floats: 1 MiB

    FarGets(Cluster& cluster, MPI_Win window) : cluster_(cluster), window_(window) {
        requests_.fill(MPI_REQUEST_NULL);
    }

    /// displacement: in the MPI window, of the floats.
    void post(const Window::Source& source, MPI_Aint displacement) {
        rank_ = source.rank;
        MPI_Request* place = nullptr;
        wait_until(
            cluster_, [&] { return (place = free_place()) != nullptr; }, [&] { return whom(); });
        const int count = static_cast<int>(source.out.size());
        mpi_check(MPI_Rget(source.out.data(), count, MPI_FLOAT, source.rank, displacement, count,
                           MPI_FLOAT, window_, place),
                  "MPI_Rget");
    }

    void finish() {
        for (auto& request : requests_) mpi_wait(cluster_, request, whom());
    }

private:
    MPI_Request* free_place() {
        for (auto& request : requests_) {
            int done = 0;
            mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done != 0) return &request;
        }
        return nullptr;
    }
    std::string whom() const { return fmt::format("rank {} to be read", rank_); }

    Cluster& cluster_;
    MPI_Win window_;
    std::array<MPI_Request, 16> requests_{};
    int rank_ = 0;
};

}  // namespace

MpiWindow::MpiWindow(MpiCluster& cluster, std::vector<BlockMemory> near, std::vector<Part> far,
                     std::shared_ptr<MpiPiece> memory)
    : cluster_(cluster),
      far_(std::move(far)),
      memory_(memory),
      near_(cluster, std::move(near), std::move(memory)) {
    if (cluster.mailbox() != nullptr) number_ = cluster.mailbox()->offer(near_);
    cluster.barrier();  // nobody asks for what is not yet on offer
}

MpiWindow::~MpiWindow() {
    cluster_.part(memory_);
    if (cluster_.mailbox() != nullptr) cluster_.mailbox()->withdraw(number_);
}

void MpiWindow::check_range(int rank, std::size_t offset, std::size_t count) const {
    const std::uint64_t length = far_.at(static_cast<std::size_t>(rank)).length;
    ENSURE(offset + count <= length, "a window of {} floats was asked for [{}, {})", length, offset,
           offset + count);
}

void MpiWindow::get(int rank, std::size_t offset, std::span<float> out) {
    const Source source{rank, offset, out};
    get_all(std::span(&source, 1));
}

void MpiWindow::get_all(std::span<const Source> sources) {
    std::vector<Source> near;
    std::vector<Source> far;
    for (const Source& source : sources) {
        check_range(source.rank, source.offset, source.out.size());
        (cluster_.on_this_node(source.rank) ? near : far).push_back(source);
    }
    get_both(near, far);
}

void MpiWindow::get_by_mpi(int rank, std::size_t offset, std::span<float> out) {
    check_range(rank, offset, out.size());
    get_both({}, {{rank, offset, out}});
}

void MpiWindow::get_both(const std::vector<Source>& near, const std::vector<Source>& far) {
    FarGets gets(cluster_, memory_->window());
    for (const Source& source : chunks_in_turns(far, FarGets::chunk))
        gets.post(source, far_[static_cast<std::size_t>(source.rank)].displacement +
                              static_cast<MPI_Aint>(source.offset * sizeof(float)));
    for (const Source& source : near) near_.get(source.rank, source.offset, source.out);
    gets.finish();
}

void MpiWindow::put(int rank, std::size_t offset, std::span<const float> in) {
    check_range(rank, offset, in.size());
    if (cluster_.on_this_node(rank)) return near_.put(rank, offset, in);
    MpiMailbox& mailbox = *cluster_.mailbox();
    const std::vector<Target> whole{{rank, offset, in}};
    for (const Target& target : chunks_in_turns(whole, MpiMailbox::most_floats))
        mailbox.put(target.rank, number_, target.offset, target.in);
    mailbox.finish();
}

void MpiWindow::add(int rank, std::size_t offset, float scale, std::span<const float> in) {
    const Target target{rank, offset, in};
    add_all(scale, std::span(&target, 1));
}

void MpiWindow::add_all(float scale, std::span<const Target> targets) {
    start_add_all(scale, targets);
    finish_adds();
}

void MpiWindow::start_add_all(float scale, std::span<const Target> targets) {
    std::vector<Target> near;
    std::vector<Target> far;
    for (const Target& target : targets) {
        check_range(target.rank, target.offset, target.in.size());
        (cluster_.on_this_node(target.rank) ? near : far).push_back(target);
    }
    MpiMailbox* mailbox = cluster_.mailbox();
    for (const Target& target : chunks_in_turns(far, MpiMailbox::most_floats))
        mailbox->add(target.rank, number_, target.offset, scale, target.in);
    for (const Target& target : near) near_.add(target.rank, target.offset, scale, target.in);
}

void MpiWindow::finish_adds() {
    if (cluster_.mailbox() != nullptr) cluster_.mailbox()->finish();
}

MpiCounters::MpiCounters(MpiCluster& cluster, std::vector<std::span<Counter>> near,
                         std::size_t count, std::shared_ptr<MpiPiece> memory)
    : cluster_(cluster), count_(count), memory_(memory), near_(std::move(near), std::move(memory)) {
    if (cluster.mailbox() != nullptr) number_ = cluster.mailbox()->offer(near_);
    cluster.barrier();  // nobody asks for what is not yet on offer
}

MpiCounters::~MpiCounters() {
    cluster_.part(memory_);
    if (cluster_.mailbox() != nullptr) cluster_.mailbox()->withdraw(number_);
}

void MpiCounters::check_range(int rank, std::size_t first, std::size_t count) const {
    ENSURE(first + count <= count_, "counters [{}, {}) of {} on rank {}", first, first + count,
           count_, rank);
}

std::int64_t MpiCounters::read(int rank, std::size_t index) {
    std::int64_t value = 0;
    read(rank, index, std::span(&value, 1));
    return value;
}

void MpiCounters::read(int rank, std::size_t first, std::span<std::int64_t> out) {
    check_range(rank, first, out.size());
    if (cluster_.on_this_node(rank)) return near_.read(rank, first, out);
    // Each counter is one aligned word, alone on its cache line: nothing copies it in parts.
    constexpr std::size_t words = sizeof(Counter) / sizeof(std::int64_t);
    std::vector<std::int64_t> lines(out.size() * words);
    const int count = static_cast<int>(lines.size());
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Rget(lines.data(), count, MPI_INT64_T, rank,
                       memory_->displacement(rank) + static_cast<MPI_Aint>(first * sizeof(Counter)),
                       count, MPI_INT64_T, memory_->window(), &request),
              "MPI_Rget");
    mpi_wait(cluster_, request, fmt::format("rank {} to be read", rank));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = lines[i * words];
}

std::int64_t MpiCounters::fetch_add(int rank, std::size_t index, std::int64_t delta) {
    check_range(rank, index, 1);
    if (cluster_.on_this_node(rank)) return near_.fetch_add(rank, index, delta);
    return cluster_.mailbox()->fetch_add(rank, number_, index, delta);
}

}  // namespace wasp
