#include "libmini/data/idx.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "libmini/core/error.hpp"

namespace mini::data {
namespace {

constexpr uint8_t kTypeByte = 0x08;
constexpr size_t kReadStep = size_t{1} << 20;

template <typename... Parts>
[[noreturn]] void bad_file(const std::string& path, const Parts&... parts) {
    throw BadFile(concat(path, ": ", parts...));
}

[[noreturn]] void bad_contents(const std::string& path, const std::string& expected,
                               const std::string& found) {
    bad_file(path, "expected ", expected, ", found ", found,
             "; delete it and run data/fetch_mnist to get the right one");
}

// Opens a regular file and nothing else: opening a FIFO must not wait for its writer.
int open_regular(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        bad_file(path, "expected an IDX file that can be read, but ",
                 system_message("open", errno),
                 "; check the path and its permissions, or run data/fetch_mnist");
    struct stat info {};
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
    ::close(fd);
    bad_file(path, "expected a regular file, found ",
             S_ISDIR(info.st_mode) ? "a directory" : "a pipe, socket or device",
             "; give the folder that holds MNIST's four files, or run data/fetch_mnist");
}

std::string text_after_colon(const std::string& message) {
    const size_t colon = message.rfind(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
}

// A file read through zlib, which passes bytes that are not gzipped through as they are.
class GzFile {
  public:
    explicit GzFile(const std::string& path) : path_(path) {
        const int fd = open_regular(path);
        file_ = gzdopen(fd, "rb");
        if (file_) return;
        ::close(fd);
        bad_file(path, "gzdopen failed: out of memory");
    }
    ~GzFile() { gzclose_r(file_); }
    GzFile(const GzFile&) = delete;
    GzFile& operator=(const GzFile&) = delete;

    /// Fills `out` as far as the file goes, and returns how far that was.
    size_t read(std::span<uint8_t> out) {
        const int count = gzread(file_, out.data(), static_cast<unsigned>(out.size()));
        int error = Z_OK;
        const std::string message = gzerror(file_, &error);  // "<fd:3>: data error"
        const std::string reason = text_after_colon(message);
        if (error == Z_ERRNO) bad_file(path_, "read failed: ", reason);
        if (count < 0 || error != Z_OK)  // Z_BUF_ERROR: the gzip stream has no end
            bad_contents(path_, "an intact gzip stream",
                         concat("a damaged one (", reason, ")"));
        return static_cast<size_t>(count);
    }

  private:
    std::string path_;
    gzFile file_;
};

std::string hex(std::span<const uint8_t> bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "0x";
    for (const uint8_t byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::string product(const std::vector<int64_t>& sizes) {
    std::string text;
    for (const int64_t size : sizes) text += concat(text.empty() ? "" : " x ", size);
    return text;
}

// The number of bytes that a header promises, or -1 when it is more than kMaxIdxBytes.
int64_t promised_bytes(const std::vector<int64_t>& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) {
        if (size > 0 && count > kMaxIdxBytes / size) return -1;
        count *= size;
    }
    return count;
}

std::vector<int64_t> read_header(GzFile& file, const std::string& path, int dimensions) {
    // Check the magic number.
    const std::array<uint8_t, 4> magic = {0, 0, kTypeByte,
                                          static_cast<uint8_t>(dimensions)};
    std::array<uint8_t, 4> word{};
    const size_t got = file.read(word);
    if (got < word.size())
        bad_contents(path, "an IDX header", concat("a file of ", got, " bytes"));
    if (word != magic)
        bad_contents(
            path,
            concat("the magic number ", hex(magic), " of an IDX file of bytes with ",
                   dimensions, dimensions == 1 ? " dimension" : " dimensions"),
            hex(word));

    // Read the sizes, and refuse what nobody could want.
    std::vector<int64_t> sizes;
    for (int i = 0; i < dimensions; ++i) {
        if (file.read(word) < word.size())
            bad_contents(path, concat("a header of ", 4 + 4 * dimensions, " bytes"),
                         "the end of the file in it");
        sizes.push_back(int64_t{word[0]} << 24 | word[1] << 16 | word[2] << 8 | word[3]);
    }
    if (promised_bytes(sizes) < 0)
        bad_contents(path, concat("at most ", kMaxIdxBytes, " bytes"),
                     concat("a header that promises ", product(sizes)));
    return sizes;
}

}  // namespace

IdxFile read_idx(const std::string& path, int dimensions) {
    GzFile file(path);
    IdxFile idx{.sizes = read_header(file, path, dimensions), .bytes = {}};
    const size_t expected = static_cast<size_t>(promised_bytes(idx.sizes));

    // Read step by step, so that memory follows the file and not its header.
    size_t have = 0;
    while (have < expected) {
        idx.bytes.resize(std::min(expected, have + kReadStep));
        const size_t got = file.read(std::span(idx.bytes).subspan(have));
        have += got;
        if (got == 0)
            bad_contents(
                path,
                concat(expected, " bytes after the header (", product(idx.sizes), ")"),
                concat("only ", have));
    }

    // Make sure that the file ends here; for gzip this also checks the sum at its end.
    std::array<uint8_t, 1> extra{};
    if (file.read(extra) > 0)
        bad_contents(
            path, concat(expected, " bytes after the header (", product(idx.sizes), ")"),
            "more");
    return idx;
}

std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions) {
    GzFile file(path);
    return read_header(file, path, dimensions);
}

}  // namespace mini::data
