/// Private to src/report/: the columns of a results file, once, for writing, reading and
/// docs/RESULTS.md.
#pragma once

#include <tuple>

#include "report/results_file.hpp"

namespace wasp::schema {

inline constexpr auto note =
    "WASP (reconstruction): after the public abstract of Ye et al., ICA3PP 2018, "
    "doi:10.1007/978-3-030-05054-2_32";

template <class Row, class Value>
struct Column {
    const char* name;
    Value Row::*member;
    const char* units;
    const char* description;
};
template <class Row, class Value>
Column(const char*, Value Row::*, const char*, const char*) -> Column<Row, Value>;

/// One dataset (rows) each.
inline constexpr std::tuple curve{
    Column{"seconds", &CurveRow::seconds, "s", "training time at the evaluation"},
    Column{"epoch", &CurveRow::epoch, "1", "passes of the workers over their shards"},
    Column{"samples", &CurveRow::samples, "1", "samples that all workers have trained on"},
    Column{"version", &CurveRow::version, "1", "updates of the shared weights"},
    Column{"train_loss", &CurveRow::train_loss, "nat", "mean loss of recent mini-batches"},
    Column{"test_loss", &CurveRow::test_loss, "nat", "mean loss on the test set"},
    Column{"test_accuracy", &CurveRow::test_accuracy, "1", "share of the test set, 0 to 1"},
    Column{"learning_rate", &CurveRow::learning_rate, "1", "learning rate"}};

/// One dataset (ranks) each, beside host (ranks) and rank, which is their dimension scale.
inline constexpr std::tuple ranks{
    Column{"node", &RankRow::node, "1", "number of the node"},
    Column{"socket", &RankRow::socket, "1", "number of the socket, -1: unknown or several"},
    Column{"threads", &RankRow::threads, "1", "threads of the rank"},
    Column{"samples", &RankRow::samples, "1", "samples that the rank has trained on"},
    Column{"updates", &RankRow::updates, "1", "updates that the rank has made"},
    Column{"weight_sum", &RankRow::weight_sum, "1", "sum of the weights w of the updates"},
    Column{"compute", &RankRow::compute, "s", "time in forward and backward passes"},
    Column{"pull", &RankRow::pull, "s", "time in getting weights"},
    Column{"push", &RankRow::push, "s", "time in sending updates"},
    Column{"wait", &RankRow::wait, "s", "time in waiting for other ranks"},
    Column{"poll", &RankRow::poll, "s", "time in serving other ranks"},
    Column{"data", &RankRow::data, "s", "time in preparing mini-batches"},
    Column{"divergence_sum", &RankRow::divergence_sum, "1", "sum of the steps' divergences"},
    Column{"synchronisations", &RankRow::synchronisations, "1", "steps that have a divergence"},
    Column{"held_up", &RankRow::held_up, "s", "time added by --straggler, part of compute"},
    Column{"bytes", &RankRow::bytes, "B", "bytes moved between this rank and others"},
    Column{"dropped", &RankRow::dropped, "1", "gradients that were not applied"}};

/// One dataset (steps, ranks) each.
inline constexpr std::tuple steps{
    Column{"seconds", &StepRow::seconds, "s", "time at the end of the step since the start"},
    Column{"loss", &StepRow::loss, "nat", "mean loss of the mini-batch"},
    Column{"weight", &StepRow::weight, "1", "weight w of the update; 0: dropped"},
    Column{"version", &StepRow::version, "1", "version that the gradient was computed on"},
    Column{"staleness", &StepRow::staleness, "1", "updates of others in between"},
    Column{"compute", &StepRow::compute, "s", "time in forward and backward pass"},
    Column{"pull", &StepRow::pull, "s", "time in getting weights"},
    Column{"push", &StepRow::push, "s", "time in sending the update"},
    Column{"wait", &StepRow::wait, "s", "time in waiting for other ranks"},
    Column{"poll", &StepRow::poll, "s", "time in serving other ranks"},
    Column{"divergence", &StepRow::divergence, "1",
           "root mean square of the replica's distance to what it was synchronised with"}};

/// One dataset (models) each, beside name (models), which is their dimension scale.
inline constexpr std::tuple models{
    Column{"validation_loss", &ModelRow::validation_loss, "nat", "mean loss on held-out images"},
    Column{"test_loss", &ModelRow::test_loss, "nat", "mean loss on the test set"},
    Column{"test_accuracy", &ModelRow::test_accuracy, "1", "share of the test set, 0 to 1"}};

template <class Columns, class Visit>
void for_each(const Columns& columns, Visit visit) {
    std::apply([&](const auto&... column) { (visit(column), ...); }, columns);
}

}  // namespace wasp::schema
