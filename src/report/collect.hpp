/// Private to src/report/: the runs of a study, one after another, so that thousands of them need
/// no more memory than one.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "report/tables.hpp"

namespace wasp {

struct CollectedRun {
    std::filesystem::path file;
    std::string status;  ///< of the results; "damaged": can't be read; "missing": is not there
    std::string fault;   ///< of a damaged one: the reason
    Results results;     ///< without steps; empty where there is nothing to read
};

/// Calls use(run) for every results file that `paths` name or, for folders, hold. What folders of
/// studies plan (runs/NAME.toml for NAME.h5) but do not hold is missing.
/// Returns what is to be said about those that did not end well.
/// Error: a path does not exist, or a folder holds and plans nothing (exit code 2).
RunsTable collect(std::span<const std::filesystem::path> paths,
                  const std::function<void(const CollectedRun&)>& use);

}  // namespace wasp
