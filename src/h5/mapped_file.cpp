#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/error.hpp"

namespace wasp::h5 {

const MappedFile* MappedFile::of(const File::Source& source) {
    constexpr std::size_t most = std::size_t{1} << 34U;
    if (source.bytes > most) return nullptr;
    if (source.mapped) return source.mapped.get();
    const Handle creation(H5Fget_create_plist(source.file.get()), H5Pclose);
    hsize_t user_block = 0;
    H5Pget_userblock(creation.get(), &user_block);
    source.mapped =
        std::make_shared<const MappedFile>(source, std::min<std::size_t>(user_block, source.bytes));
    return source.mapped.get();
}

MappedFile::MappedFile(const File::Source& source, std::size_t user_block)
    : user_block_(user_block) {
    const int file = open(source.path.c_str(), O_RDONLY | O_CLOEXEC);
    void* start = MAP_FAILED;
    if (file >= 0) start = mmap(nullptr, source.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0) close(file);
    ENSURE(start != MAP_FAILED, "{}: can't be mapped into memory", source.path.string());
    bytes_ = {static_cast<const char*>(start), source.bytes};
}

MappedFile::~MappedFile() {
    munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace wasp::h5
