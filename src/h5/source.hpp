/// Private to src/h5/: what a File and its Arrays keep open, and how objects are opened safely.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "h5/reader.hpp"
#include "handle.hpp"

namespace wasp::h5 {

struct File::Source {
    std::filesystem::path path;
    std::size_t bytes = 0;  ///< size of the file
    Handle file;
    mutable std::shared_ptr<const class MappedFile> mapped;  ///< see MappedFile::of()
    mutable bool heaps_are_sound = false;                    ///< set by check_global_heaps()

    std::string where(const std::string& object) const { return path.string() + ": " + object; }
};

/// The object of that exact name: through hard and soft links within the file.
/// Error: no such object, an external link, a link to nowhere or a loop.
Handle open_object(const File::Source& source, const std::string& name);

/// Error: not an existing dataset.
Handle open_dataset(const File::Source& source, const std::string& name);

/// Empty unless numbers of the kinds that Element knows.
std::optional<Element> element_of(hid_t type);

/// "text", "records (compound)", … for messages.
std::string type_name(hid_t type);

}  // namespace wasp::h5
