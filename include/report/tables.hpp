/// Results and model files as text.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/results_file.hpp"

namespace wasp {

/// A table of many runs. A run of which there is nothing to read has its row, too.
struct RunsTable {
    std::string text;
    std::vector<std::string> remarks;  ///< a line for each run that did not end well, and how many
    bool complete = true;              ///< no file was damaged
};

// paths: results files, or folders of them; the folder of a study (jobs/study) says which of its
// runs are missing, too. Error: one does not exist, or is a folder without results (exit code 2).

/// For people: a row a run.
RunsTable show_results(std::span<const std::filesystem::path> paths);

/// Comma-separated, with a header: a row an evaluation, with the run that it belongs to in front.
/// A run without evaluations has one row with empty cells.
RunsTable results_csv(std::span<const std::filesystem::path> paths);

/// Comma-separated, with a header: a row a run, with its summary, what its ranks spent their time
/// on, and every option.
RunsTable merge_results(std::span<const std::filesystem::path> paths);

/// What a model file holds, a line a tensor.   Error: as read_model_file().
std::string show_model(const std::filesystem::path& file);

/// The end of a run: a small table, and the line "RESULT key=value …" with the keys of
/// docs/RESULTS.md, without an end of line. results.config and results.summary are to be filled.
std::string final_report(const Results& results, const std::filesystem::path& file);

}  // namespace wasp
