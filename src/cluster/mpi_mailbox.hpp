/// How ranks change what lies on other nodes: by one-sided calls, but not on the floats themselves.
/// Who wants a change lays the floats into its outbox and writes a letter into the owner's mailbox.
/// Whenever it polls, the owner reads its letters, gets the floats, changes its windows and
/// counters under the same locks and with the same atomics as everyone on its node, and writes an
/// answer. Outbox, mailbox and answers lie in one MPI window, which only MPI writes to from afar.
/// (Why not MPI_Accumulate on the floats: docs/decisions/0002-parameter-store.md.)
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "mpi_locked_window.hpp"
#include "node_window.hpp"
#include "packing.hpp"
#include "sealed.hpp"

namespace wasp {

class MpiMailbox {
public:
    static constexpr std::size_t most_floats = 16 * Window::block;  ///< in a letter

    /// Collective.   others: the ranks on other nodes.
    MpiMailbox(Cluster& cluster, const std::vector<int>& others);
    MpiMailbox(const MpiMailbox&) = delete;
    MpiMailbox& operator=(const MpiMailbox&) = delete;
    ~MpiMailbox();  ///< collective

    /// What others may change. The number is the same on all ranks that make the same calls.
    int offer(NodeWindow& window);
    int offer(NodeCounters& counters);
    void withdraw(int number);

    // Post a letter; waits only for room. Done at the target when finish() returns.
    void add(int rank, int window, std::size_t offset, float scale, std::span<const float> in);
    void put(int rank, int window, std::size_t offset, std::span<const float> in);
    void finish();

    /// Waits for the answer.
    std::int64_t fetch_add(int rank, int counters, std::size_t index, std::int64_t delta);

    /// Do what others have asked for by now, but not for too long: there may be work of our own.
    void serve();

private:
    static constexpr std::size_t most_letters = 8;  ///< unanswered, from one rank to one other
    static constexpr std::size_t buffers = 8;  ///< in an outbox, and for what is got from others'

    enum class Kind : std::uint8_t { add, put, fetch_add };
    struct Letter {
        Kind kind = Kind::add;
        Packing packing = Packing::none;
        std::uint16_t buffer = 0;  ///< of the outbox
        std::int32_t object = 0;   ///< window or counters
        float scale = 1;
        std::uint32_t floats = 0;
        std::uint64_t place = 0;  ///< offset or index
        std::int64_t number = 0;  ///< to add to a counter; else the words that the floats take
    };

    /// A letter of mine: the words that MPI reads, and what became of it.
    struct Posted {
        Sealed<Letter> words{};
        MPI_Request request = MPI_REQUEST_NULL;
        int rank = 0;
        std::uint32_t number = 0;
        std::optional<std::size_t> buffer;
        bool answered = true;
        std::int64_t answer = 0;
    };
    /// An answer of mine.
    struct Reply {
        Sealed<std::int64_t> words{};
        MPI_Request request = MPI_REQUEST_NULL;
    };
    /// A rank on another node. Letters between two ranks are numbered from 1; letter n goes into
    /// place n modulo most_letters, once the one before it there has been answered.
    struct Peer {
        int rank = 0;
        std::uint32_t posted = 0, read = 0;  ///< the last letter to it, and from it
        std::array<Posted, most_letters> letters{};
        std::array<Reply, most_letters> replies{};
    };
    /// Floats on their way from another's outbox.
    struct Parcel {
        AlignedFloats floats = AlignedFloats(most_floats);  ///< or what they are packed into
        MPI_Request request = MPI_REQUEST_NULL;
        Peer* from = nullptr;  ///< null: none
        std::uint32_t number = 0;
        Letter letter;
    };

    Posted& post(int rank, Letter letter, std::span<const float> floats = {});
    void collect_answers();
    std::optional<std::size_t> free_buffer() const;
    std::string whom(int rank) const;
    Parcel* free_parcel();
    void read_letters();
    void open_parcels();
    std::span<const float> unpacked(const Parcel& parcel);
    void reply(Peer& peer, std::uint32_t number, std::int64_t value);

    // Where things lie in the MPI window of a rank, in bytes.
    std::size_t mailbox_at(int from, std::uint32_t number) const;
    std::size_t answer_at(int from, std::uint32_t number) const;
    std::size_t outbox_at(std::size_t buffer) const;
    template <class Words>
    MPI_Request write(int rank, std::size_t at, const Words& words);

    Cluster& cluster_;
    std::vector<std::byte, CacheAligned<std::byte>> memory_;
    std::optional<LockedWindow> window_;
    std::vector<Peer> peers_;
    std::vector<Peer*> peer_of_;  // by rank
    std::vector<Posted*> unanswered_;
    std::array<Parcel, buffers> parcels_;
    AlignedFloats unpacked_ = AlignedFloats(most_floats);
    std::size_t first_to_read_ = 0;
    int next_number_ = 0;
    std::map<int, NodeWindow*> windows_;
    std::map<int, NodeCounters*> counters_;
    bool serving_ = false;
};

}  // namespace wasp
