// libFuzzer: any bytes as a data file (HDF5, IDX plain or gzipped, CIFAR) end in an answer or in a
// refusal with exit code 2; in nothing else. See test/fuzz/run.sh.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "data/import.hpp"
#include "data/inspect.hpp"

namespace {

namespace fs = std::filesystem;

/// In memory where there is such a file system: thousands of files a second.
fs::path scratch_file(const std::string& name) {
    const fs::path memory = "/dev/shm";
    const auto folder = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    return folder / ("wasp-fuzz-" + std::to_string(getpid()) + name);
}

template <class Use>
void answers_or_refuses(Use use) {
    try {
        use();
    } catch (const wasp::Error& error) {
        if (error.code() == wasp::ExitCode::usage) return;
        std::fprintf(stderr, "not a refusal: %s\n", error.what());
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const auto input = scratch_file(".bin");  // by this name, what has no signature is CIFAR
    static const auto output = scratch_file(".h5");
    std::ofstream(input, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    answers_or_refuses([] { wasp::check_data_file(input); });
    answers_or_refuses([] { wasp::dataset_info(input); });
    // With options for what a file does not say, so that more of them are read.
    const wasp::Interpretation options{.axes = "nchw", .scale = wasp::Scale::none, .classes = 1000};
    answers_or_refuses([&] { wasp::import_hdf5(input, input, options, output); });
    fs::remove(input);
    fs::remove(output);
    return 0;
}
