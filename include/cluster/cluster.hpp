/// THE SEAM between this program and the ranks it runs on: everything that moves bytes between
/// ranks. Makers: run_on_mpi() (src/cluster/mpi_*.cpp, the only files that know MPI),
/// run_on_threads() (src/cluster/thread_cluster.cpp: ranks are threads; laptops, tests,
/// sanitizers) and run_on_sim() (cluster/sim.hpp; src/cluster/sim_*.cpp, the only files that know
/// SimGrid: ranks take turns in virtual time). Whatever stands on this seam runs on each of them
/// unchanged, and does not know which it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/heartbeat.hpp"

namespace wasp {

/// Where this rank runs. Nodes are numbered by their lowest rank.
struct Place {
    int rank = 0, ranks = 1;
    int node = 0, nodes = 1;
    int rank_on_node = 0, ranks_on_node = 1;
    std::string host = "localhost";
};

/// `length` floats on every rank, which every rank reads and changes without the owner's help.
/// On MPI: a one-sided (RMA) window, locked for all ranks during its whole life; within a node,
/// loads and stores.
/// Each call is complete, at its target too, when it returns. A change of a block, the floats
/// [k·block, (k+1)·block), is indivisible: others see all of it or nothing, and a longer call may
/// meet other ranks' calls between blocks. Only a get() from another node may see part of a change
/// (of whole floats): what must not be torn carries a sequence number, as a PeerBoard does.
/// Error: offset + size exceeds the target's length; the holder of a block stalled (named).
class Window {
public:
    static constexpr std::size_t block = 4096;  ///< floats: 16 KiB

    virtual ~Window() = default;
    virtual void get(int rank, std::size_t offset, std::span<float> out) = 0;
    virtual void put(int rank, std::size_t offset, std::span<const float> in) = 0;
    /// target += scale · in. No such update is ever lost or applied twice.
    virtual void add(int rank, std::size_t offset, float scale, std::span<const float> in) = 0;

    struct Source {
        int rank;
        std::size_t offset;
        std::span<float> out;
    };
    struct Target {
        int rank;
        std::size_t offset;
        std::span<const float> in;
    };
    // Several calls in one, on different ranks: those to other nodes are under way together.
    virtual void get_all(std::span<const Source> sources);
    virtual void add_all(float scale, std::span<const Target> targets);
    /// As add_all(), but complete when finish_adds() returns. What `targets` point to is the
    /// caller's again at once.
    virtual void start_add_all(float scale, std::span<const Target> targets) {
        add_all(scale, targets);
    }
    virtual void finish_adds() {}
};

/// `count` 64-bit counters on every rank, zero at the start. Sequentially consistent with one
/// another, and with windows: who sees a counter's new value sees what its writer wrote to windows
/// before.
class Counters {
public:
    virtual ~Counters() = default;
    virtual std::int64_t read(int rank, std::size_t index) = 0;
    /// The counters [first, first + out.size()) of `rank`, each read by itself, in one message.
    virtual void read(int rank, std::size_t first, std::span<std::int64_t> out) = 0;
    /// Returns the value before.
    virtual std::int64_t fetch_add(int rank, std::size_t index, std::int64_t delta) = 0;
};

/// Bytes that all ranks of a node share; written by the rank with rank_on_node 0, then read by all.
/// Where time is virtual, all nodes share those of the first.
class NodeMemory {
public:
    virtual ~NodeMemory() = default;
    virtual std::span<std::byte> bytes() = 0;  ///< 64-byte aligned
};

/// Sums over all ranks that get on while the ranks compute.
class BackgroundSums {
public:
    virtual ~BackgroundSums() = default;
    /// values become the sum of all ranks' values, with the bits of Cluster::sum(): at finish(), or
    /// before. Until then they are nobody's to read or write. All ranks start the same sums in the
    /// same order.
    virtual void start(std::span<float> values) = 0;
    /// Does what can be done at once; call it often.
    virtual void advance() = 0;
    /// Returns when all that were started are complete.   Error: as barrier().
    virtual void finish() = 0;
};

class Cluster {
public:
    virtual ~Cluster() = default;

    virtual const Place& place() const = 0;
    virtual std::string description()
        const = 0;  ///< e.g. "MPICH 4.0.2, THREAD_FUNNELED" or "4 threads"
    int rank() const { return place().rank; }
    int size() const { return place().ranks; }

    // Collective: all ranks call, in the same order. None waits for ever: see stall_seconds().
    virtual void barrier() = 0;
    virtual void sum(std::span<float> values) = 0;  ///< values = the sum of all ranks' values, the
                                                    ///< same bits everywhere
    virtual void sum(std::span<double> values) = 0;
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;  ///< bytes = root's bytes
    /// On root: each rank's bytes, by rank; elsewhere empty. Sizes may differ.
    virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> bytes,
                                                       int root) = 0;
    virtual std::unique_ptr<Window> make_window(
        std::size_t length) = 0;  ///< lengths may differ; zeroed
    virtual std::unique_ptr<Counters> make_counters(std::size_t count) = 0;
    /// `bytes` as rank_on_node 0 gives it.   Error: the node's shared memory can't hold it (with
    /// the figures).
    virtual std::unique_ptr<NodeMemory> make_node_memory(std::size_t bytes) = 0;

    /// largest: floats of a sum.
    virtual std::unique_ptr<BackgroundSums> make_background_sums(std::size_t largest);

    /// Let other ranks' requests at this one progress. Cheap; call between layers and in every
    /// wait.
    virtual void poll() = 0;

    /// Give the core to another rank for a moment: part of every wait, which says how long it has
    /// lasted so far (where ranks outnumber cores, a long one naps instead of taking turns). Where
    /// time is virtual it returns when a counter changes that this rank has read, by itself and not
    /// as one of many, since its last yield().
    virtual void yield(double waited_seconds) = 0;

    /// Do nothing for so long but serve others.
    virtual void linger(double seconds);

    /// Do `work`, which computes the gradient of so many images. Where time is virtual, what that
    /// takes on the modelled machine passes meanwhile, and any thread may do it: then it may call
    /// no rank.   Error: what `work` throws.
    virtual void compute(std::int64_t /*images*/, const std::function<void()>& work) { work(); }

    /// Seconds since the start of the cluster; virtual ones where time is.
    virtual double seconds() const = 0;

    /// Whether time is virtual: that of a model, which stands still while ranks compute.
    virtual bool is_virtual() const { return false; }

    /// Weights of the modelled network that each float in windows and sums stands for: the floats
    /// of a block are so many fewer. 1 where nothing is modelled.
    virtual std::size_t weights_per_float() const { return 1; }

    /// The longest that any wait may take before it fails with whom it waits for; set by the run.
    virtual double stall_seconds() const { return stall_seconds_; }
    void set_stall_seconds(double seconds) { stall_seconds_ = seconds; }

    /// Throws when this rank can't expect others any more (another rank failed, is gone, or gives
    /// no sign of life for stall_seconds()); else nothing. Call it in every wait and every step.
    virtual void check_alive() = 0;

    /// What this rank is about, for others to read, and what they are about.
    virtual Heartbeats& heartbeats() { return unread_heartbeats_; }

private:
    Heartbeats unread_heartbeats_;
    double stall_seconds_ = 120;
};

/// A figure that changes whenever those whom one waits for get on. Empty: there is none.
using Progress = std::function<std::int64_t()>;

/// Wait until done(), serving others meanwhile.
/// Error: the wait took longer than stall_seconds(), while progress() stood still and no rank got
/// on with the step (or evaluation) that it was in: "waited 120 s for WHOM()", and what each rank
/// is about; exit code 1. Not while a debugger holds a rank.
void wait_until(Cluster& cluster, const std::function<bool()>& done,
                const std::function<std::string()>& whom, const Progress& progress = {});

/// Run `work` on this rank. When it throws at any rank, every rank throws the error of the lowest
/// such rank. Collective; `work` must not be.
void collectively(Cluster& cluster, const std::function<void()>& work);

/// items = root's, of whatever number.   items: a vector or string. Collective.
template <class Items>
void broadcast_list(Cluster& cluster, Items& items, int root) {
    std::uint64_t count = items.size();
    cluster.broadcast(std::as_writable_bytes(std::span(&count, 1)), root);
    items.resize(count);
    cluster.broadcast(std::as_writable_bytes(std::span(items)), root);
}

/// MPI_Init_thread, `body`, MPI_Finalize. Returns the exit code of the program: an Error that all
/// ranks share (see collectively()) is printed once; one that a single rank throws is printed by
/// that rank and ends all.
int run_on_mpi(int* argc, char*** argv, const std::function<void(Cluster&)>& body);

/// Run `body` once per rank, each rank a thread of this process. Rethrows the first exception of a
/// rank.
void run_on_threads(int ranks, const std::function<void(Cluster&)>& body);

}  // namespace wasp
