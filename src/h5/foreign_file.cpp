#include "h5/foreign_file.hpp"

#include <algorithm>
#include <array>

namespace wasp::h5 {

namespace {

using namespace std::string_view_literals;

struct Hint {
    std::size_t offset;
    std::string_view bytes, hint;
};

constexpr std::array hints{
    Hint{0, "version https://git-lfs"sv, "a Git LFS pointer, not the data: run 'git lfs pull'"},
    Hint{0, "\x1f\x8b"sv,
         "compressed with gzip: gunzip it first (IDX files: 'wasp data import idx' reads them so)"},
    Hint{0, "<!"sv, "a web page: the download failed"},
    Hint{0, "<HTML"sv, "a web page: the download failed"},
    Hint{0, "<html"sv, "a web page: the download failed"},
    Hint{0, "\x89HDF\r\n\x1a\n"sv, "HDF5: use 'wasp data import hdf5'"},
    Hint{0, "\x89HDF"sv, "a damaged HDF5 file (sent as text?): copy it again in binary mode"},
    Hint{0, "\0\0\x08\x01"sv, "IDX labels: use 'wasp data import idx'"},
    Hint{0, "\0\0\x08\x03"sv, "IDX images: use 'wasp data import idx'"},
    Hint{0, "PK\x03\x04"sv, "a zip archive (or NumPy's npz): unpack it first"},
    Hint{0, "BZh"sv, "compressed with bzip2: unpack it first"},
    Hint{0,
         "\xfd"
         "7zXZ"sv,
         "compressed with xz: unpack it first"},
    Hint{0, "\x28\xb5\x2f\xfd"sv, "compressed with zstd: unpack it first"},
    Hint{0, "\x80\x02"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "\x80\x03"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "\x80\x04"sv, "a Python pickle: take the binary version of the data"},
    Hint{0, "\x93NUMPY"sv, "a NumPy array: write it with h5py, or as IDX"},
    Hint{0, "\x89PNG"sv, "a picture"},
    Hint{0, "\xff\xd8\xff"sv, "a picture"},
    Hint{0, "MATLAB 5.0"sv, "a MATLAB 5 file: save it with -v7.3, which is HDF5"},
    Hint{0, "CDF\x01"sv, "NetCDF 3: convert it with 'nccopy -k nc4'"},
    Hint{257, "ustar"sv, "a tar archive: unpack it first"},
};

}  // namespace

std::string_view describe_foreign(std::string_view head) {
    const auto* const found = std::ranges::find_if(hints, [head](const Hint& hint) {
        return head.size() > hint.offset &&
               head.substr(hint.offset, hint.bytes.size()) == hint.bytes;
    });
    return found == hints.end() ? std::string_view() : found->hint;
}

}  // namespace wasp::h5
