/// Private to src/h5/: identifiers of libhdf5 that close themselves.
#pragma once

#include <hdf5.h>

#include <utility>

namespace wasp::h5 {

class Handle {
public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close close) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept
        : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }

    explicit operator bool() const { return id_ >= 0; }
    hid_t get() const { return id_; }

private:
    hid_t id_ = H5I_INVALID_HID;
    Close close_ = nullptr;
};

/// Errors reach our users as one line of ours, not as the library's trace. Call before any other
/// call.
inline void silence_library() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace wasp::h5
