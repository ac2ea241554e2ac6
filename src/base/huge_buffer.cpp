#include "base/huge_buffer.hpp"

#include <sys/mman.h>

#include "base/error.hpp"

namespace wasp {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;

}  // namespace

HugeBuffer::HugeBuffer(std::size_t bytes) : size_((bytes + huge_page - 1) / huge_page * huge_page) {
    if (size_ == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, size_)));
    ENSURE(data_ != nullptr, "no {:.1f} MB of memory: take a smaller batch or less ranks a node",
           static_cast<double>(size_) / 1e6);
    // A system without huge pages refuses; the memory is as good, only slower.
    madvise(data_.get(), size_, MADV_HUGEPAGE);
}

}  // namespace wasp
