// A training step in a steady state allocates nothing.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "batch.hpp"
#include "protocols/sgd.hpp"
#include "tensor/vector_ops.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

/// oneDNN itself makes a map of the arguments whenever a primitive is executed.
bool is_of_onednn(void* code) {
    Dl_info info;
    return dladdr(code, &info) != 0 && std::strstr(info.dli_fname, "libdnnl") != nullptr;
}

void* counted(std::size_t bytes, std::size_t alignment, void* caller) {
    if (counting && !is_of_onednn(caller)) ++allocations;
    if (void* memory =
            std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
        return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
    return counted(bytes, alignof(std::max_align_t), __builtin_return_address(0));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
// Not inlined: beside calls of operator new, g++ would take std::free for a mistake.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/,
                                       std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

namespace wasp {
namespace {

/// Made by three steps after the first two, which make buffers.
long allocations_of_steps(Model& model, const ImageBatch& batch) {
    Sgd sgd(model.weights().size(), {.momentum = 0.9F});
    const auto step = [&] {
        model.train_step(batch);
        axpy(1, sgd.update(model.gradients(), model.weights()), model.weights());
    };
    step();
    step();
    allocations = 0;
    counting = true;
    for (int i = 0; i < 3; ++i) step();
    counting = false;
    return allocations;
}

TEST(TrainingStep, AllocatesNothingAfterTheSecond) {
    const test::Images images(100, {1, 28, 28}, 10);
    for (const int threads : {1, 2})
        for (const char* name : {"lenet5", "lenet5-caffe", "lenet5-tanh", "mlp-dropout"}) {
            SCOPED_TRACE(testing::Message() << name << " on " << threads);
            use_threads(threads);
            const auto model = make_model(name, {.image = {1, 28, 28}});
            EXPECT_EQ(allocations_of_steps(*model, images.batch()), 0);
        }
    use_threads(1);
}

TEST(TrainingStep, OfAResNetAllocatesNothingAfterTheSecond) {
    const test::Images images(8, {3, 32, 32}, 10);
    for (const Precision precision : {Precision::float32, Precision::bf16})
        for (const auto library : convolution_libraries(kernels(), precision))
            for (const int threads : {1, 2}) {
                SCOPED_TRACE(testing::Message()
                             << (precision == Precision::bf16 ? "bf16" : "float32") << " on "
                             << threads << ", library " << static_cast<int>(library));
                use_threads(threads);
                const auto model =
                    make_model("resnet20", {.image = {3, 32, 32},
                                            .largest_batch = 8,
                                            .precision = precision,
                                            .convolutions = ConvolutionAlgorithm::direct,
                                            .library = library});
                EXPECT_EQ(allocations_of_steps(*model, images.batch()), 0);
            }
    use_threads(1);
}

}  // namespace
}  // namespace wasp

#endif
