// A training step in a steady state allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "batch.hpp"
#include "protocols/sgd.hpp"
#include "tensor/vector_ops.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<long> allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    if (void* memory =
            std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
        return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
    return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

namespace wasp {
namespace {

TEST(TrainingStep, AllocatesNothingAfterTheSecond) {
    const test::Images images(100, {1, 28, 28}, 10);
    for (const int threads : {1, 2})
        for (const char* name : {"lenet5", "lenet5-caffe", "lenet5-tanh", "mlp-dropout"}) {
            SCOPED_TRACE(testing::Message() << name << " on " << threads);
            use_threads(threads);
            const auto model = make_model(name, {.image = {1, 28, 28}});
            Sgd sgd(model->weights().size(), {.momentum = 0.9F});
            const auto step = [&] {
                model->train_step(images.batch());
                axpy(1, sgd.update(model->gradients(), model->weights()), model->weights());
            };
            step();
            step();
            const long before = allocations;
            for (int i = 0; i < 3; ++i) step();
            EXPECT_EQ(allocations - before, 0);
        }
    use_threads(1);
}

}  // namespace
}  // namespace wasp

#endif
