/// Copies of a model's weights on the way through a run, to be evaluated after it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/state.hpp"
#include "report/results_file.hpp"

namespace wasp {

class Snapshots {
public:
    /// In memory as long as they take `memory` bytes at most; further ones go to a file in `folder`
    /// which has no name there, so that nothing is left behind however the run ends.
    Snapshots(std::size_t memory, std::filesystem::path folder);
    Snapshots(const Snapshots&) = delete;
    Snapshots& operator=(const Snapshots&) = delete;
    ~Snapshots();

    /// parts: e.g. weights and state, of the same lengths every time.
    /// Error: the disk is full or the like.
    void take(const CurveRow& row, std::span<const std::span<const float>> parts);

    /// length: floats of all parts of one copy.
    void visit(State& state, std::size_t length);

    std::size_t size() const { return rows_.size(); }
    std::size_t on_disk() const { return rows_.size() - in_memory_.size(); }
    const CurveRow& row(std::size_t index) const { return rows_[index]; }
    void load(std::size_t index, std::span<const std::span<float>> parts) const;

private:
    void open_file();

    std::size_t memory_, used_ = 0;
    std::filesystem::path folder_;
    std::vector<CurveRow> rows_;
    std::vector<std::vector<float>> in_memory_;
    int file_ = -1;
};

}  // namespace wasp
