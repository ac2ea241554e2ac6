/// Large memory on huge pages, where the system gives them: activations of gigabytes miss the
/// address caches otherwise.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace wasp {

/// `bytes` of memory, not initialised: its pages come to the node of the thread that writes first.
/// Error: there is not so much.
class HugeBuffer {
public:
    HugeBuffer() = default;
    explicit HugeBuffer(std::size_t bytes);

    std::byte* data() const { return data_.get(); }
    std::size_t size() const { return size_; }

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> data_;
    std::size_t size_ = 0;
};

}  // namespace wasp
