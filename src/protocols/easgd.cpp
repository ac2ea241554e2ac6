/// Elastic averaging: each worker has its own weights x; an elastic force ties them to a centre c.
///     x += u(g);   every τ steps:  d = α·(x − c);   x −= d;   c += d,   α = β/P
/// Nobody waits. The result is the centre. Source: Zhang, Choromanska, LeCun 2015 (arXiv
/// 1412.6651), algorithms 1 and 2.
#include "base/aligned.hpp"
#include "centre.hpp"
#include "cluster/laps.hpp"
#include "divergence.hpp"
#include "table.hpp"
#include "tensor/vector_ops.hpp"

namespace wasp {

namespace {

struct ElasticRule {
    std::int64_t period = 1;  ///< τ
    float strength = 0;       ///< α
};

class ElasticAveraging final : public Protocol {
public:
    ElasticAveraging(const ProtocolSetup& setup, const Team& team, ElasticRule rule)
        : cluster_(setup.cluster),
          sgd_(setup.sgd),
          rule_(rule),
          centre_(setup, team),
          force_(team.worker ? setup.weights.size() : 0) {}

    Exchange exchange(Replica replica, float /*loss*/) override {
        Exchange record;
        record.version = version_;
        record.pushed = false;
        axpy(1.0F, sgd_.update(replica.gradients, replica.weights), replica.weights);
        if (++steps_ % rule_.period == 0) meet_the_centre(replica.weights, record);
        return record;
    }

    bool retire() override {
        centre_.retire();
        return true;
    }
    void finish(Replica replica) override { version_ = centre_.finish(replica.weights); }
    std::int64_t version() const override { return version_; }
    void visit(State& state) override {
        centre_.visit(state);
        state.value("steps", steps_);
        state.value("version", version_);
    }

    std::vector<float> result_so_far() override {
        std::vector<float> centre(centre_.store().size());
        centre_.store().pull(centre);
        return centre;
    }

private:
    void meet_the_centre(std::span<float> weights, Exchange& record) {
        Laps laps(cluster_);
        ParameterStore& store = centre_.store();
        version_ = store.version();
        store.pull(force_);
        record.pull_seconds = laps.lap();
        record.divergence = divergence(force_, weights);
        scale(-rule_.strength, force_);
        axpy(rule_.strength, weights, force_);
        axpy(-1.0F, force_, weights);
        laps.lap();
        record.staleness = store.issue() - version_;
        store.push(1.0F, force_);
        record.push_seconds = laps.lap();
        record.weight = rule_.strength;
        record.pushed = true;
        record.bytes = 2 * centre_.bytes_away();
        version_ = store.version();
    }

    Cluster& cluster_;
    Sgd& sgd_;
    ElasticRule rule_;
    Centre centre_;
    AlignedFloats force_;  // the centre, then d
    std::int64_t steps_ = 0, version_ = 0;
};

std::vector<Key> elastic_keys() {
    return {steps_key("tau", "10", "steps between two meetings with the centre"),
            {.name = "beta",
             .kind = Key::Kind::number,
             .fallback = "0.9",
             .high = 1,
             .meaning = "elasticity of all workers together: alpha = beta/P"},
            servers_key};
}

std::vector<Key> momentum_keys() {
    auto keys = elastic_keys();
    keys.push_back({.name = "mu",
                    .kind = Key::Kind::number,
                    .fallback = "0.99",
                    .high = 0.9999,
                    .meaning = "Nesterov's momentum, instead of --momentum"});
    return keys;
}

std::unique_ptr<Protocol> make(const Settings& settings, const ProtocolSetup& setup,
                               const Team& team) {
    return std::make_unique<ElasticAveraging>(
        setup, team,
        ElasticRule{.period = settings.whole("tau"),
                    .strength = static_cast<float>(settings.number("beta") / team.workers)});
}

}  // namespace

constinit const ProtocolRow easgd_row{
    .name = "easgd",
    .rule = "own weights, tied to a centre: every tau steps d = α(x − c); x −= d; c += d",
    .source = "Zhang, Choromanska, LeCun 2015",
    .keys = elastic_keys,
    .make = make};

constinit const ProtocolRow eamsgd_row{
    .name = "eamsgd",
    .rule = "as easgd, with Nesterov's momentum in each worker",
    .source = "Zhang, Choromanska, LeCun 2015",
    .keys = momentum_keys,
    .make = [](const Settings& settings, const ProtocolSetup& setup, const Team& team) {
        setup.sgd.set_momentum(static_cast<float>(settings.number("mu")), true);
        return make(settings, setup, team);
    }};

}  // namespace wasp
