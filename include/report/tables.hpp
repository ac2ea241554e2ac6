/// Results and model files as text.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "report/results_file.hpp"

namespace wasp {

/// A table with a row a run.   Error: as read_results().
std::string show_results(std::span<const std::filesystem::path> files);

/// Comma-separated, with a header: a row an evaluation, with the run that it belongs to in front.
/// A run without evaluations has one row with empty cells.   Error: as read_results().
std::string results_csv(std::span<const std::filesystem::path> files);

/// What a model file holds, a line a tensor.   Error: as read_model_file().
std::string show_model(const std::filesystem::path& file);

/// The end of a run: a small table, and the line "RESULT key=value …" with the keys of
/// docs/RESULTS.md, without an end of line. results.config and results.summary are to be filled.
std::string final_report(const Results& results, const std::filesystem::path& file);

}  // namespace wasp
