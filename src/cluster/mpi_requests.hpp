/// What a rank asks of ranks on other nodes: to change their windows and counters for it. The owner
/// does so, under the same locks and with the same atomics as everyone on its node, whenever it
/// polls, and answers when it is done. (Why not MPI_Accumulate:
/// docs/decisions/0002-parameter-store.md.)
#pragma once

#include <array>
#include <list>
#include <map>
#include <vector>

#include "mpi_check.hpp"
#include "node_window.hpp"

namespace wasp {

class MpiRequests {
public:
    static constexpr std::size_t most_floats = 16 * Window::block;  ///< in a request

    explicit MpiRequests(Cluster& cluster);  ///< collective
    MpiRequests(const MpiRequests&) = delete;
    MpiRequests& operator=(const MpiRequests&) = delete;
    ~MpiRequests();  ///< after a barrier: no request is under way

    /// What others may ask for. The number is the same on all ranks that make the same calls.
    int offer(NodeWindow& window);
    int offer(NodeCounters& counters);
    void withdraw(int number);

    // Send a request; waits only for room. Done at the target when finish() returns.
    void add(int rank, int window, std::size_t offset, float scale, std::span<const float> in);
    void put(int rank, int window, std::size_t offset, std::span<const float> in);
    void finish();

    // Both wait for the answer.
    std::int64_t fetch_add(int rank, int counters, std::size_t index, std::int64_t delta);
    void read(int rank, int counters, std::size_t first, std::span<std::int64_t> out);

    /// Do what others have asked for by now, but not for too long: there may be work of our own.
    void serve();

private:
    enum class Kind : std::int32_t { add, put, fetch_add, read };
    struct Header {
        Kind kind = Kind::add;
        std::int32_t object = 0;
        std::int32_t answer_tag = 0;
        float scale = 1;
        std::uint64_t place = 0;  ///< offset or index
        std::int64_t amount = 0;  ///< floats, delta or counters
    };
    static constexpr std::size_t buffer_bytes = sizeof(Header) + most_floats * sizeof(float);
    using Buffer = std::vector<std::byte>;

    /// A request that I sent and that is not yet answered.
    struct Slot {
        int rank = 0;
        Buffer buffer;
        std::vector<std::int64_t> answer;
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};  // send, receive
        bool busy = false;
    };
    /// An answer on its way.
    struct Answer {
        std::vector<std::int64_t> values;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    Slot& send(int rank, Header header, std::span<const float> payload, std::size_t answers);
    Slot* free_slot();
    void wait_for(Slot& slot);
    void listen(std::size_t ear);
    std::vector<std::int64_t> fulfil(const Header& header, const std::byte* payload);

    Cluster& cluster_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int next_number_ = 0;
    std::map<int, NodeWindow*> windows_;
    std::map<int, NodeCounters*> counters_;
    std::array<Slot, 16> slots_;
    std::array<Buffer, 4> heard_;
    std::array<MPI_Request, 4> ears_{};
    std::list<Answer> answers_;
    bool serving_ = false;
};

}  // namespace wasp
