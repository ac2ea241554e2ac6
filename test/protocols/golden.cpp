// Every protocol against numpy: 50 updates in a scripted order of events give the same weights to
// 1e-6, and the same staleness at every step. test/golden/make_protocol_golden.py is the reference.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "support/on_ranks.hpp"
#include "support/toy.hpp"

namespace wasp {
namespace {

using test::on_ranks;

constexpr int threads_only = 3;  // ranks that mpiexec is not run with

struct Case {
    std::string spec;
    int workers = 0, servers = 0;
    SgdSetup sgd;
    float rate = 0;
    bool momentum_at_server = false;
    std::string compress = "none";
    std::vector<std::int64_t> steps;                                   // by worker
    std::vector<int> script;                                           // workers
    std::vector<std::vector<std::pair<std::int64_t, float>>> records;  // staleness and weight
    std::vector<std::vector<float>> weights;                           // by worker, or one for all
};

template <class T>
std::vector<T> rest_of(std::istringstream& line) {
    return {std::istream_iterator<T>(line), std::istream_iterator<T>()};
}

std::vector<std::pair<std::int64_t, float>> read_records(std::istringstream& line) {
    std::vector<std::pair<std::int64_t, float>> records;
    std::int64_t staleness = 0;
    float weight = 0;
    for (char colon = 0; line >> staleness >> colon >> weight;)
        records.emplace_back(staleness, weight);
    return records;
}

std::vector<Case> read_cases() {
    std::ifstream file("test/golden/protocols.txt");
    std::vector<Case> cases;
    for (std::string text; std::getline(file, text);) {
        std::istringstream line(text);
        std::string what;
        line >> what;
        if (what == "case") {
            cases.emplace_back();
            line >> cases.back().spec >> cases.back().workers >> cases.back().servers;
            continue;
        }
        Case& last = cases.back();
        if (what == "sgd")
            line >> last.sgd.momentum >> last.sgd.weight_decay >> last.sgd.nesterov >> last.rate >>
                last.momentum_at_server;
        if (what == "compress") line >> last.compress;
        if (what == "steps") last.steps = rest_of<std::int64_t>(line);
        if (what == "script") last.script = rest_of<int>(line);
        if (what == "records") last.records.push_back(read_records(line));
        if (what == "weights") last.weights.push_back(rest_of<float>(line));
    }
    return cases;
}

void compare(const Case& expected, std::size_t worker, const test::Trained& got) {
    const auto& weights = expected.weights[std::min(worker, expected.weights.size() - 1)];
    ASSERT_EQ(got.weights.size(), weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
        ASSERT_NEAR(got.weights[i], weights[i], 1e-6) << "weight " << i << " of worker " << worker;
    ASSERT_EQ(got.records.size(), static_cast<std::size_t>(expected.steps[worker]));
    const auto& records = expected.records[worker];
    for (std::size_t step = 0; step < records.size(); ++step) {
        EXPECT_EQ(got.records[step].staleness, records[step].first) << "step " << step;
        EXPECT_FLOAT_EQ(got.records[step].weight, records[step].second) << "step " << step;
    }
}

test::Trained train_in_turns(Cluster& cluster, const Case& wanted, const std::string& spec) {
    std::vector<int> ranks = wanted.script;
    for (int& rank : ranks) rank += wanted.servers;
    TurnTakingCluster turns(cluster, ranks);
    const int worker = cluster.rank() - wanted.servers;
    test::Training training{.spec = spec,
                            .sgd = wanted.sgd,
                            .momentum_at_server = wanted.momentum_at_server,
                            .rate = wanted.rate,
                            .compression = parse_compression(wanted.compress),
                            .turns = &turns};
    if (worker >= 0) training.steps = wanted.steps[static_cast<std::size_t>(worker)];
    auto trained = test::train(turns, training);
    cluster.barrier();
    EXPECT_TRUE(turns.script_is_done());
    return trained;
}

TEST(RanksProtocolGolden, SameWeightsAsNumpy) {
    on_ranks({threads_only, 4}, [](Cluster& cluster) {
        const auto cases = read_cases();
        ASSERT_GT(cases.size(), 50U) << "test/golden/protocols.txt is missing or short";
        for (const Case& wanted : cases) {
            if (wanted.workers + wanted.servers != cluster.size()) continue;
            SCOPED_TRACE(wanted.spec + " " + wanted.compress);
            const auto trained = train_in_turns(cluster, wanted, wanted.spec);
            const int worker = cluster.rank() - wanted.servers;
            if (worker < 0) continue;
            compare(wanted, static_cast<std::size_t>(worker), trained);
        }
    });
}

// In the order of ASP's script, WASP that weights nothing and never synchronises is ASP.
TEST(RanksProtocolGolden, WaspWithoutWeightAndPeriodIsAsp) {
    on_ranks({threads_only}, [](Cluster& cluster) {
        int compared = 0;
        for (const Case& wanted : read_cases()) {
            if (wanted.spec != "asp" || wanted.momentum_at_server || wanted.compress != "none")
                continue;
            const auto asp = train_in_turns(cluster, wanted, "asp");
            const auto wasp = train_in_turns(cluster, wanted, "wasp:weight=constant,period=inf");
            EXPECT_EQ(asp.weights, wasp.weights);
            ++compared;
        }
        EXPECT_EQ(compared, 2);  // with and without momentum
    });
}

}  // namespace
}  // namespace wasp
