/// Bulk-synchronous parallel: all take the same step, with the mean of all gradients.
///     g = (1/P)·Σ gradients of the P workers that have not finished;   θ += u(g)
/// Every rank computes the same u from the same g, so that momentum needs no messages and replicas
/// stay identical, bit for bit; η is the mean of theirs. Source: Valiant 1990.
#include <algorithm>
#include <optional>

#include "cluster/laps.hpp"
#include "overlapped_rounds.hpp"
#include "rounds.hpp"
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

class Bsp final : public Protocol {
public:
    explicit Bsp(const ProtocolSetup& setup) : cluster_(setup.cluster), sgd_(setup.sgd) {
        if (setup.overlap) overlapped_.emplace(setup.cluster, setup.weights.size());
    }

    void gradient_ready(Replica replica, std::size_t offset, std::size_t count) override {
        if (overlapped_) overlapped_->add(replica.gradients, offset, count, sgd_.learning_rate());
    }
    void between_layers() override {
        if (overlapped_) overlapped_->advance();
    }

    Exchange exchange(Replica replica, float /*loss*/) override {
        Exchange record;
        record.version = version_++;
        Laps laps(cluster_);
        Round round;
        if (overlapped_) {
            round = overlapped_->finish(replica.gradients);
            record.wait_seconds = laps.lap();
        } else {
            round = meet(cluster_, 1, sgd_.learning_rate());
            record.wait_seconds = laps.lap();
            cluster_.sum(replica.gradients);
            record.push_seconds = laps.lap();
        }
        if (round.active == 0) {  // nobody's gradient is finite
            record.weight = 0;
            record.pushed = false;
            return record;
        }
        record.weight = round.share();
        sgd_.set_learning_rate(static_cast<float>(round.rate));
        scale(record.weight, replica.gradients);
        axpy(1.0F, sgd_.update(replica.gradients, replica.weights), replica.weights);
        if (cluster_.size() > 1)
            record.bytes = static_cast<std::int64_t>(2 * replica.weights.size_bytes());
        return record;
    }

    /// Goes on with zeros until all are done; then everyone takes the weights with the most steps.
    void finish(Replica replica) override {
        if (overlapped_) {
            overlapped_->join_until_all_are_done(replica.gradients);
        } else {
            while (meet(cluster_, 0, 0).active > 0) {
                std::ranges::fill(replica.gradients, 0.0F);
                cluster_.sum(replica.gradients);
            }
        }
        std::vector<double> steps(static_cast<std::size_t>(cluster_.size()));
        steps[static_cast<std::size_t>(cluster_.rank())] = static_cast<double>(version_);
        cluster_.sum(steps);
        const auto most = std::ranges::max_element(steps);
        cluster_.broadcast(std::as_writable_bytes(replica.weights),
                           static_cast<int>(most - steps.begin()));
        version_ = static_cast<std::int64_t>(*most);
    }

    std::int64_t version() const override { return version_; }
    void visit(State& state) override { state.value("version", version_); }

private:
    Cluster& cluster_;
    Sgd& sgd_;
    std::optional<OverlappedRounds> overlapped_;
    std::int64_t version_ = 0;
};

}  // namespace

constinit const ProtocolRow bsp_row{
    .name = "bsp",
    .rule = "everyone waits, then weights += u(mean of the P gradients)",
    .source = "Valiant 1990",
    .server_momentum = true,  // there is one for all of them
    .overlaps = true,
    .keys = [] { return std::vector<Key>{}; },
    .make = [](const Settings& /*settings*/, const ProtocolSetup& setup, const Team& /*team*/)
        -> std::unique_ptr<Protocol> { return std::make_unique<Bsp>(setup); }};

}  // namespace wasp
