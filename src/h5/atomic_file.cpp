#include "h5/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace wasp::h5 {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const fs::path& path) {
    const char* advice = "";
    auto code = ExitCode::usage;
    switch (error) {
        case ENOENT:
            advice = "; create its folder first";
            break;
        case EACCES:
        case EPERM:
        case EROFS:
            advice = "; choose a folder that you may write to";
            break;
        case EISDIR:
            advice = "; give a file name inside it";
            break;
        case ENOTDIR:
        case ENAMETOOLONG:
        case ELOOP:
            advice = "; choose another path";
            break;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
            advice = "; free some space or choose another disk";
            code = ExitCode::fault;
            break;
        default:
            code = ExitCode::fault;
    }
    throw Error(code,
                fmt::format("can't write '{}': {}{}", path.string(), std::strerror(error), advice));
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

constexpr std::size_t digits = 8;
constexpr std::string_view unfinished = ".part";

/// What the names of files beside `path` begin with: a prefix of its own only, so that a long one
/// stays within the limit of 255 bytes.
std::string prefix_of(const fs::path& path) {
    return fmt::format(".{}.", path.filename().string().substr(0, 200));
}

/// A file beside `path` under a name of its own; removed unless renamed.
class Aside {
public:
    explicit Aside(fs::path path) : path_(std::move(path)) {
        if (!path_.has_filename()) fail(EISDIR, path_);
        std::random_device random;
        do {
            aside_ = folder_of(path_) /
                     fmt::format("{}{:0{}x}{}", prefix_of(path_), random(), digits, unfinished);
            file_ = open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        } while (file_ < 0 && errno == EEXIST);
        if (file_ < 0) fail(errno, path_);
        exists_ = true;
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside() {
        if (file_ >= 0) close(file_);
        if (exists_) unlink(aside_.c_str());
    }

    void write(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t written = ::write(file_, bytes.data(), bytes.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(errno, path_);
            bytes = bytes.subspan(static_cast<std::size_t>(written));
        }
        check(fsync(file_) == 0);
        check(close(std::exchange(file_, -1)) == 0);  // NFS tells of a full disk here
    }

    void rename_over() {
        check(rename(aside_.c_str(), path_.c_str()) == 0);
        exists_ = false;
        sync_folder();
    }

    /// Not rename(), which would replace; a link is exclusive on NFS and Lustre, too.
    bool link_new() {
        if (link(aside_.c_str(), path_.c_str()) == 0) {
            sync_folder();
            return true;
        }
        if (errno == EEXIST) return false;
        check(errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK);
        // No hard links here (FAT, some FUSE): take the name empty, then replace it at once.
        const int taken = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (taken < 0 && errno == EEXIST) return false;
        check(taken >= 0);
        close(taken);
        rename_over();
        return true;
    }

private:
    void check(bool fine) const {
        if (!fine) fail(errno, path_);
    }

    /// Makes the new name durable. Some file systems can't sync folders; they need not.
    void sync_folder() const {
        const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder < 0) return;  // a folder that may be written but not read
        const bool fine = fsync(folder) == 0 || errno == EINVAL || errno == EBADF;
        const int error = errno;
        close(folder);
        if (!fine) fail(error, path_);
    }

    fs::path path_, aside_;
    int file_ = -1;
    bool exists_ = false;
};

/// Those in the folder whose names begin with `prefix`, and are `length` long if that is given.
void remove_asides(const fs::path& folder, std::string_view prefix,
                   std::optional<std::size_t> length) {
    std::error_code ignored;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(unfinished) &&
            name.size() == length.value_or(name.size()))
            found.push_back(entry.path());
    }
    for (const auto& file : found) fs::remove(file, ignored);
}

}  // namespace

void replace_file(const fs::path& path, std::span<const std::byte> bytes) {
    Aside aside(path);
    aside.write(bytes);
    aside.rename_over();
}

bool create_file(const fs::path& path, std::span<const std::byte> bytes) {
    Aside aside(path);
    aside.write(bytes);
    return aside.link_new();
}

void remove_unfinished(const fs::path& path) {
    const auto prefix = prefix_of(path);
    remove_asides(folder_of(path), prefix, prefix.size() + digits + unfinished.size());
}

void remove_unfinished_in(const fs::path& folder, std::string_view beginning) {
    remove_asides(folder, fmt::format(".{}", beginning), {});
}

void check_writable(const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (error && status.type() != fs::file_type::not_found) fail(error.value(), path);
    if (fs::is_directory(status)) fail(EISDIR, path);
    const Aside aside(path);
}

}  // namespace wasp::h5
