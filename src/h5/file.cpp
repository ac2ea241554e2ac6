#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/failure.hpp"
#include "failure.hpp"
#include "heaps.hpp"
#include "object_header.hpp"
#include "signature.hpp"
#include "source.hpp"

namespace wasp::h5 {

namespace {

/// Whether the file system has file locks (some NFS and Lustre mounts have none).
/// Error: another program holds the file open for writing.
bool locks_work(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int refused = file < 0 || flock(file, LOCK_SH | LOCK_NB) != 0 ? errno : 0;
    if (file >= 0) close(file);
    REQUIRE(refused != EWOULDBLOCK, "{}: another program has it open for writing; wait for it",
            path.string());
    return refused == 0;
}

/// All links are resolved inside the file: at most 8 soft ones, none to another file.
Handle safe_links() {
    Handle access(H5Pcreate(H5P_LINK_ACCESS), H5Pclose);
    const auto refuse = [](const char*, const char*, const char*, const char*, unsigned*, hid_t,
                           void*) -> herr_t { return -1; };
    H5Pset_nlinks(access.get(), 8);
    H5Pset_elink_cb(access.get(), refuse, nullptr);
    return access;
}

}  // namespace

Handle open_object(const File::Source& source, const std::string& name) {
    const Handle links = safe_links();
    for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
        const auto prefix = name.substr(0, slash);
        if (prefix == "/") break;
        H5L_info_t link{};
        REQUIRE(H5Lexists(source.file.get(), prefix.c_str(), links.get()) > 0 &&
                    H5Lget_info(source.file.get(), prefix.c_str(), &link, links.get()) >= 0,
                "{}: does not exist", source.where(prefix));
        REQUIRE(link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT,
                "{}: is a link to another file, which is not followed; copy the data into one file",
                source.where(prefix));
        check_object_header(source, prefix, links.get());
        if (slash == std::string::npos) break;
    }
    Handle object(H5Oopen(source.file.get(), name.c_str(), links.get()), H5Oclose);
    REQUIRE(object, "{}: can't be opened: {}", source.where(name), library_reason());
    return object;
}

Handle open_dataset(const File::Source& source, const std::string& name) {
    Handle object = open_object(source, name);
    const auto type = H5Iget_type(object.get());
    REQUIRE(type == H5I_DATASET, "{}: is a {}, not a dataset", source.where(name),
            type == H5I_GROUP ? "group" : "named type");
    return object;
}

File::File(const std::filesystem::path& path) {
    silence_library();
    check_signature(path);
    auto source = std::make_shared<Source>();
    source->path = path;
    source->bytes = std::filesystem::file_size(path);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    ENSURE(H5Pset_file_locking(access.get(), static_cast<hbool_t>(locks_work(path)), 1) >= 0,
           "libhdf5: {}", library_reason());
    source->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    REQUIRE(source->file, "{}: truncated or damaged; copy or download it again ({})", path.string(),
            library_reason());
    check_local_heaps(*source);
    check_object_header(*source, "/", H5P_DEFAULT);
    source_ = std::move(source);
}

bool is_broken(const std::filesystem::path& path) {
    std::error_code fault;
    if (std::filesystem::is_empty(path, fault)) return std::filesystem::is_regular_file(path);
    if (failure_of([&] { check_signature(path); })) return false;
    static_cast<void>(locks_work(path));
    return failure_of([&] { const File file(path); }).has_value();
}

const std::filesystem::path& File::path() const {
    return source_->path;
}

bool File::has(const std::string& name) const {
    const Handle links = safe_links();
    for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
        if (H5Lexists(source_->file.get(), name.substr(0, slash).c_str(), links.get()) <= 0)
            return false;
        if (slash == std::string::npos) return true;
        check_object_header(*source_, name.substr(0, slash), links.get());
    }
}

bool File::is_group(const std::string& name) const {
    return H5Iget_type(open_object(*source_, name).get()) == H5I_GROUP;
}

std::vector<std::string> File::names(std::size_t limit) const {
    struct State {
        std::vector<std::string> names;
        std::size_t limit;
    } state{{}, limit};
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
        auto& [names, most] = *static_cast<State*>(into);
        if (names.size() < most) names.emplace_back(name);
        return names.size() < most ? 0 : 1;
    };
    H5Literate(source_->file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &state);
    return state.names;
}

std::vector<std::string> File::texts(const std::string& name) const {
    constexpr hssize_t most = 1 << 20;
    constexpr std::size_t longest = 4096;
    const Handle dataset = open_dataset(*source_, name);
    const auto where = source_->where(name);
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const std::size_t length = H5Tget_size(type.get());
    REQUIRE(H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 &&
                length <= longest,
            "{}: expected strings of fixed length", where);
    const auto count = H5Sget_simple_extent_npoints(space.get());
    REQUIRE(H5Sget_simple_extent_ndims(space.get()) == 1 && count <= most,
            "{}: expected a list of at most {} strings", where, most);
    REQUIRE(count == 0 || H5Dget_storage_size(dataset.get()) > 0, "{}: was never written", where);
    std::string all(static_cast<std::size_t>(count) * length, '\0');
    REQUIRE(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0,
            "{}: can't be read: {}", where, library_reason());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        texts.emplace_back(all.substr(i * length, length).c_str());
    return texts;
}

}  // namespace wasp::h5
