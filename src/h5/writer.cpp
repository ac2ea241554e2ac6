#include "h5/writer.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "handle.hpp"

namespace wasp::h5 {
namespace {

constexpr std::size_t chunk_bytes = 65'536;

std::size_t count_of(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

Handle own(hid_t id, Handle::Close close, const char* what, const std::string& path) {
    ENSURE(id >= 0, "bug: HDF5 refused {} of '{}'", what, path);
    return {id, close};
}

void check(herr_t result, const char* what, const std::string& path) {
    ENSURE(result >= 0, "bug: HDF5 refused {} of '{}'", what, path);
}

struct NumberType {
    hid_t file;  // little-endian, so that files are the same whoever wrote them
    hid_t memory;
};

NumberType number_type(Values::Type type) {
    switch (type) {
        case Values::Type::uint8:
            return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
        case Values::Type::uint16:
            return {H5T_STD_U16LE, H5T_NATIVE_UINT16};
        case Values::Type::int32:
            return {H5T_STD_I32LE, H5T_NATIVE_INT32};
        case Values::Type::int64:
            return {H5T_STD_I64LE, H5T_NATIVE_INT64};
        case Values::Type::float32:
            return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
        case Values::Type::float64:
            break;
    }
    return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}

/// UTF-8; length 0: variable.
Handle text_type(std::size_t length, const std::string& path) {
    auto type = own(H5Tcopy(H5T_C_S1), H5Tclose, "a type", path);
    check(H5Tset_size(type.get(), length == 0 ? H5T_VARIABLE : length), "a type", path);
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "a type", path);
    check(H5Tset_strpad(type.get(), length == 0 ? H5T_STR_NULLTERM : H5T_STR_NULLPAD), "a type",
          path);
    return type;
}

/// As h5py stores numpy's bool.
Handle truth_type(const std::string& path) {
    auto type = own(H5Tenum_create(H5T_STD_I8LE), H5Tclose, "a type", path);
    const std::int8_t no = 0, yes = 1;
    check(H5Tenum_insert(type.get(), "FALSE", &no), "a type", path);
    check(H5Tenum_insert(type.get(), "TRUE", &yes), "a type", path);
    return type;
}

Handle simple_space(const Shape& shape, const std::string& path) {
    const std::vector<hsize_t> sizes(shape.begin(), shape.end());
    const hid_t space =
        shape.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    return own(space, H5Sclose, "a shape", path);
}

Handle creation(const Shape& shape, const Storage& storage, const std::string& path) {
    auto list = own(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties", path);
    check(H5Pset_obj_track_times(list.get(), false), "properties", path);
    if (storage.chunk.empty() || count_of(shape) == 0) return list;
    const std::vector<hsize_t> chunk(storage.chunk.begin(), storage.chunk.end());
    check(H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()), "chunks", path);
    if (storage.deflate > 0) {
        check(H5Pset_shuffle(list.get()), "shuffling", path);
        check(H5Pset_deflate(list.get(), static_cast<unsigned>(storage.deflate)), "compression",
              path);
    }
    check(H5Pset_fletcher32(list.get()), "checksums", path);
    return list;
}

}  // namespace

Storage suitable_storage(const Shape& shape, std::size_t element_bytes) {
    if (count_of(shape) * element_bytes <= chunk_bytes) return {};
    // Halve the chunk along its longest side until it is small enough.
    Storage storage{.chunk = shape, .deflate = 1};
    while (count_of(storage.chunk) * element_bytes > chunk_bytes) {
        auto longest = std::ranges::max_element(storage.chunk);
        *longest = (*longest + 1) / 2;
    }
    return storage;
}

namespace {

/// The library's in-memory driver works in this block, which outlives the file: only the bytes that
/// it leaves at closing are a file that is no longer marked as open for writing.
/// (H5Fget_file_image() of 1.10 takes the mark off, but leaves the superblock's checksum wrong.)
struct Image {
    void* block = nullptr;
    std::size_t size = 0;

    Image() = default;
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { std::free(block); }

    static void* resize(void* block, std::size_t size, H5FD_file_image_op_t /*why*/, void* self) {
        void* larger = std::realloc(block, size);
        if (larger != nullptr) static_cast<Image*>(self)->block = larger;
        return larger;
    }
    static herr_t keep(void* /*block*/, H5FD_file_image_op_t /*why*/, void* /*self*/) { return 0; }
    static void* same(void* self) { return self; }
    static herr_t release(void* /*self*/) { return 0; }

    H5FD_file_image_callbacks_t callbacks() {
        return {nullptr, nullptr, resize, keep, same, release, this};
    }
};

}  // namespace

struct Writer::File {
    Image image;
    Handle id;

    File() {
        const std::string path = "/";
        const auto access = own(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "properties", path);
        auto callbacks = image.callbacks();
        check(H5Pset_file_image_callbacks(access.get(), &callbacks), "memory", path);
        constexpr std::size_t growth = 1'048'576;  // bytes
        check(H5Pset_fapl_core(access.get(), growth, false), "memory", path);
        // Since 1.8 metadata carry checksums, without which damage crashes readers.
        check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18), "a version",
              path);
        id = own(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                 "creation", path);
    }

    std::span<const std::byte> finish() {
        if (id) {
            check(H5Fflush(id.get(), H5F_SCOPE_LOCAL), "writing", "/");
            const ssize_t size = H5Fget_file_image(id.get(), nullptr, 0);
            ENSURE(size > 0, "bug: HDF5 refused the size of a file");
            image.size = static_cast<std::size_t>(size);
            id = Handle();  // closes it
        }
        return {static_cast<const std::byte*>(image.block), image.size};
    }

    Handle open(const std::string& path) const {
        return own(H5Oopen(id.get(), path.c_str(), H5P_DEFAULT), H5Oclose, "opening", path);
    }

    void attribute(const std::string& path, const std::string& name, hid_t file_type,
                   hid_t memory_type, const Shape& shape, const void* values) const {
        const auto object = open(path);
        const auto space = simple_space(shape, path);
        const auto attribute = own(H5Acreate2(object.get(), name.c_str(), file_type, space.get(),
                                              H5P_DEFAULT, H5P_DEFAULT),
                                   H5Aclose, "an attribute", path);
        check(H5Awrite(attribute.get(), memory_type, values), "an attribute", path);
    }

    void dataset(const std::string& path, hid_t file_type, hid_t memory_type, const Shape& shape,
                 const Storage& storage, const void* values) const {
        const auto space = simple_space(shape, path);
        const auto list = creation(shape, storage, path);
        const auto dataset = own(H5Dcreate2(id.get(), path.c_str(), file_type, space.get(),
                                            H5P_DEFAULT, list.get(), H5P_DEFAULT),
                                 H5Dclose, "a dataset", path);
        if (count_of(shape) == 0) return;
        check(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
              "the values", path);
    }
};

Writer::Writer() {
    silence_library();
    file_ = std::make_unique<File>();
}

Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

void Writer::group(const std::string& path) {
    own(H5Gcreate2(file_->id.get(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
        "a group", path);
}

void Writer::attribute(const std::string& path, const std::string& name, bool value) {
    const auto type = truth_type(path);
    const auto stored = static_cast<std::int8_t>(value);
    file_->attribute(path, name, type.get(), type.get(), {}, &stored);
}

void Writer::attribute(const std::string& path, const std::string& name, std::int64_t value) {
    file_->attribute(path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, {}, &value);
}

void Writer::attribute(const std::string& path, const std::string& name, double value) {
    file_->attribute(path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &value);
}

void Writer::attribute(const std::string& path, const std::string& name, const char* value) {
    const auto type = text_type(0, path);
    file_->attribute(path, name, type.get(), type.get(), {}, static_cast<const void*>(&value));
}

void Writer::attribute(const std::string& path, const std::string& name, const std::string& value) {
    attribute(path, name, value.c_str());
}

void Writer::attribute(const std::string& path, const std::string& name,
                       std::span<const double> values) {
    file_->attribute(path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
}

void Writer::text(const std::string& path, const std::string& name, const std::string& value) {
    const auto type = text_type(std::max<std::size_t>(value.size(), 1), path);
    file_->attribute(path, name, type.get(), type.get(), {}, value.c_str());
}

void Writer::dataset(const std::string& path, const Values& values, const Shape& shape,
                     const Storage& storage) {
    ENSURE(values.count == count_of(shape), "bug: {} values for the shape of '{}'", values.count,
           path);
    const auto type = number_type(values.type);
    file_->dataset(path, type.file, type.memory, shape, storage, values.data);
}

void Writer::dataset(const std::string& path, std::span<const std::string> values) {
    std::size_t length = 1;
    for (const auto& value : values) length = std::max(length, value.size());
    std::string joined(values.size() * length, '\0');
    for (std::size_t i = 0; i < values.size(); ++i)
        std::ranges::copy(values[i], joined.begin() + static_cast<std::ptrdiff_t>(i * length));
    const auto type = text_type(length, path);
    file_->dataset(path, type.get(), type.get(), {values.size()}, {}, joined.data());
}

void Writer::attach_scale(const std::string& path, unsigned dimension, const std::string& scale,
                          const std::string& label) {
    const auto dataset = file_->open(path), scaling = file_->open(scale);
    if (H5DSis_scale(scaling.get()) == 0)
        check(H5DSset_scale(scaling.get(), label.c_str()), "a dimension scale", scale);
    check(H5DSattach_scale(dataset.get(), scaling.get(), dimension), "a dimension scale", path);
    check(H5DSset_label(dataset.get(), dimension, label.c_str()), "a label", path);
}

std::span<const std::byte> Writer::finish() {
    return file_->finish();
}

}  // namespace wasp::h5
