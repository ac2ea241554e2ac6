#include "snapshots.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"

namespace wasp {

namespace {

std::size_t length_of(auto parts) {
    std::size_t length = 0;
    for (const auto& part : parts) length += part.size();
    return length;
}

/// All of `bytes` at `position`, through pread or pwrite.
template <class Transfer, class Byte>
void transfer_all(Transfer transfer, int file, std::span<Byte> bytes, std::size_t position) {
    while (!bytes.empty()) {
        const auto moved = transfer(file, bytes.data(), bytes.size(), static_cast<off_t>(position));
        if (moved < 0 && errno == EINTR) continue;
        ENSURE(moved > 0, "copies of the weights, for evaluation after training: {}",
               moved < 0 ? std::strerror(errno) : "the file ends too early");
        bytes = bytes.subspan(static_cast<std::size_t>(moved));
        position += static_cast<std::size_t>(moved);
    }
}

}  // namespace

Snapshots::Snapshots(std::size_t memory, std::filesystem::path folder)
    : memory_(memory), folder_(std::move(folder)) {}

Snapshots::~Snapshots() {
    if (file_ >= 0) close(file_);
}

void Snapshots::open_file() {
    std::string name = (folder_ / ".wasp-weights-XXXXXX").string();
    file_ = mkstemp(name.data());
    ENSURE(file_ >= 0, "can't make a file for copies of the weights in '{}': {}", folder_.string(),
           std::strerror(errno));
    unlink(name.c_str());
}

void Snapshots::take(const CurveRow& row, std::span<const std::span<const float>> parts) {
    const std::size_t bytes = length_of(parts) * sizeof(float);
    if (file_ < 0 && used_ + bytes <= memory_) {
        std::vector<float> copy;
        copy.reserve(bytes / sizeof(float));
        for (const auto& part : parts) copy.insert(copy.end(), part.begin(), part.end());
        in_memory_.push_back(std::move(copy));
        used_ += bytes;
    } else {
        if (file_ < 0) open_file();
        std::size_t position = on_disk() * bytes;
        for (const auto& part : parts) {
            transfer_all(pwrite, file_, std::as_bytes(part), position);
            position += part.size_bytes();
        }
    }
    rows_.push_back(row);
}

void Snapshots::visit(State& state, std::size_t length) {
    auto rows = rows_;
    state.list("snapshots", rows);
    std::vector<float> floats(length);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!state.restores()) load(i, std::array{std::span(floats)});
        state.values("snapshot", std::span(floats));
        if (state.restores()) take(rows[i], std::array{std::span<const float>(floats)});
    }
}

void Snapshots::load(std::size_t index, std::span<const std::span<float>> parts) const {
    if (index < in_memory_.size()) {
        const float* from = in_memory_[index].data();
        for (const auto& part : parts) {
            std::copy_n(from, part.size(), part.begin());
            from += part.size();
        }
        return;
    }
    std::size_t position = (index - in_memory_.size()) * length_of(parts) * sizeof(float);
    for (const auto& part : parts) {
        transfer_all(pread, file_, std::as_writable_bytes(part), position);
        position += part.size_bytes();
    }
}

}  // namespace wasp
