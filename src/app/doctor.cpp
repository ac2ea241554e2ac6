#include <fmt/format.h>

#include "bytes.hpp"
#include "examination.hpp"
#include "output.hpp"

namespace wasp {

namespace {

void add_lines(ByteWriter& message, const std::vector<std::string>& lines) {
    message.add(lines.size());
    for (const auto& line : lines) message.add(line);
}

std::vector<std::string> read_lines(ByteReader& reader) {
    std::size_t count = 0;
    reader.read(count);
    std::vector<std::string> lines(count);
    for (auto& line : lines) reader.read(line);
    return lines;
}

void print(std::string_view title, const std::vector<std::string>& lines) {
    say_as("\n{}\n", title);
    for (const auto& line : lines) say_as("  {}\n", line);
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
}

/// Nodes that differ from the one before are printed, too.
Examination examine_nodes(Cluster& cluster, const std::filesystem::path& folder) {
    ByteWriter message;
    const bool speaks = cluster.place().rank_on_node == 0;
    message.add(speaks);
    if (speaks) {
        const auto mine = examine_node(folder);
        message.add(cluster.place().host);
        for (const auto* lines : {&mine.seen, &mine.bad, &mine.advice}) add_lines(message, *lines);
    }
    Examination all;
    std::vector<std::string> last;
    for (const auto& bytes : cluster.gather(message.bytes(), 0)) {
        ByteReader reader(bytes);
        bool spoke = false;
        reader.read(spoke);
        if (!spoke) continue;
        std::string host;
        reader.read(host);
        const auto lines = read_lines(reader);
        const auto bad = read_lines(reader);
        const auto advice = read_lines(reader);
        const auto with_host = [&host](std::vector<std::string> found) {
            for (auto& line : found) line.insert(0, host + ": ");
            return found;
        };
        if (lines == last) {
            all.seen.push_back(host + ": the same");
        } else {
            all.seen.push_back(host + ":");
            for (const auto& line : lines) all.seen.push_back("  " + line);
        }
        last = lines;
        append(all.bad, with_host(bad));
        append(all.advice, with_host(advice));
    }
    return all;
}

}  // namespace

bool doctor(Cluster& cluster, const std::filesystem::path& folder, std::optional<int> threads,
            double seconds) {
    const auto places = examine_places(cluster, threads);
    const auto nodes = examine_nodes(cluster, folder);
    const auto traffic = examine_traffic(cluster, seconds);
    std::uint64_t bad = places.bad.size() + nodes.bad.size() + traffic.bad.size();
    cluster.broadcast(std::as_writable_bytes(std::span(&bad, 1)), 0);
    if (cluster.rank() != 0) return bad == 0;
    print("Ranks", places.seen);
    print("Nodes", nodes.seen);
    print("Traffic", traffic.seen);
    std::vector<std::string> verdict;
    for (const auto* part : {&places, &nodes, &traffic})
        for (const auto& line : part->bad) verdict.push_back("BAD: " + line);
    for (const auto* part : {&places, &nodes, &traffic})
        for (const auto& line : part->advice) verdict.push_back("advice: " + line);
    if (verdict.empty()) verdict.emplace_back("nothing to complain of");
    print("Verdict", verdict);
    return bad == 0;
}

}  // namespace wasp
