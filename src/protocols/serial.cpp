/// Serial: one rank, plain SGD; what all others are measured against.
///     θ += u(g)
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

class Serial final : public Protocol {
public:
    explicit Serial(Sgd& sgd) : sgd_(sgd) {}

    Exchange exchange(Replica replica, float /*loss*/) override {
        Exchange record;
        record.version = version_++;
        axpy(1.0F, sgd_.update(replica.gradients, replica.weights), replica.weights);
        return record;
    }
    void finish(Replica /*replica*/) override {}
    std::int64_t version() const override { return version_; }
    void visit(State& state) override { state.value("version", version_); }

private:
    Sgd& sgd_;
    std::int64_t version_ = 0;
};

}  // namespace

constinit const ProtocolRow serial_row{
    .name = "serial",
    .rule = "one rank alone: weights += u, the step of SGD",
    .source = "Robbins and Monro 1951",
    .one_worker = true,
    .server_momentum = true,  // there is one for all of them
    .keys = [] { return std::vector<Key>{}; },
    .make = [](const Settings& /*settings*/, const ProtocolSetup& setup, const Team& /*team*/)
        -> std::unique_ptr<Protocol> { return std::make_unique<Serial>(setup.sgd); }};

}  // namespace wasp
