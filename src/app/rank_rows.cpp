#include "rank_rows.hpp"

#include "bytes.hpp"

namespace wasp {

namespace {

/// The fields of a row, in one order for both directions.
template <class Row, class Visit>
void for_each_field(Row& row, Visit visit) {
    visit(row.host), visit(row.cpus);
    visit(row.node), visit(row.socket), visit(row.threads);
    visit(row.samples), visit(row.updates), visit(row.weight_sum);
    visit(row.compute), visit(row.pull), visit(row.push), visit(row.wait);
    visit(row.poll), visit(row.data), visit(row.held_up);
    visit(row.bytes), visit(row.dropped);
    visit(row.divergence_sum), visit(row.synchronisations);
    visit(row.staleness), visit(row.steps);
}

}  // namespace

std::vector<RankRow> gather_rows(Cluster& cluster, const RankRow& mine, int root) {
    ByteWriter message;
    for_each_field(mine, [&](const auto& field) { message.add(field); });
    std::vector<RankRow> rows;
    for (const auto& bytes : cluster.gather(message.bytes(), root)) {
        ByteReader reader(bytes);
        RankRow& row = rows.emplace_back();
        for_each_field(row, [&](auto& field) { reader.read(field); });
    }
    return rows;
}

}  // namespace wasp
