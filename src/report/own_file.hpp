/// Private to src/report/: the kinds of files that this program writes, and reading them again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "h5/reader.hpp"

namespace wasp {

struct FileKind {
    const char* program;  ///< root attribute that tells them apart
    const char* name;     ///< for people
    const char* option;   ///< of 'wasp train', which writes them
    const char* command;  ///< which shows them
};

inline constexpr FileKind results_kind{"wasp", "a results file", "--out", "wasp results show"};
inline constexpr FileKind model_kind{"wasp model", "a model file", "--save-model",
                                     "wasp model show"};
inline constexpr FileKind checkpoint_kind{"wasp checkpoint", "a checkpoint", "--checkpoint-every",
                                          "wasp train --resume"};
inline constexpr std::int64_t format_version = 1;  ///< of each

/// Error: another kind of file (of ours, or not ours), or written by a newer program.
void check_kind(const h5::File& file, const FileKind& kind);

// Error: missing, of another type, or outside [low, high].
std::string text_attribute(const h5::File& file, const std::string& object,
                           const std::string& name);
std::int64_t whole_attribute(const h5::File& file, const std::string& object,
                             const std::string& name, std::int64_t low, std::int64_t high);

}  // namespace wasp
