#include "libmini/datasets/idx.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/datasets/regular_file.hpp"

namespace mini::data {
namespace {

constexpr uint8_t kTypeByte = 0x08;
constexpr size_t kReadStep = size_t{1} << 20;
constexpr unsigned kInputBuffer = 256 << 10;

// deflate unpacks a byte to at most 1032 bytes (zlib.net, "Technical Details").
constexpr int64_t kMaxExpansion = 1032;

std::string text_after_colon(const std::string& message) {
    const size_t colon = message.rfind(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
}

// A file that is read through zlib. zlib unpacks a gzipped file, and returns the bytes of
// any other file unchanged.
class GzFile {
  public:
    GzFile(const std::string& path, const std::string& next_step)
        : path_(path), next_step_(next_step) {
        RegularFile file(path, {.name = "an IDX file", .next_step = next_step});
        max_bytes_ = file.size() * kMaxExpansion;
        const int fd = file.release();
        file_ = gzdopen(fd, "rb");
        if (file_) {
            gzbuffer(file_, kInputBuffer);
            return;
        }
        ::close(fd);
        throw BadFile(concat(path, ": gzdopen failed: out of memory"));
    }
    ~GzFile() { gzclose_r(file_); }
    GzFile(const GzFile&) = delete;
    GzFile& operator=(const GzFile&) = delete;

    [[noreturn]] void reject(const std::string& expected,
                             const std::string& found) const {
        bad_file(path_, expected, found,
                 concat("delete it and ", next_step_, " to get the right one"));
    }

    /// Reads up to out.size() bytes into `out`, and returns the number of bytes read;
    /// fewer at the end of the file.
    size_t read(std::span<uint8_t> out) {
        const int count = gzread(file_, out.data(), static_cast<unsigned>(out.size()));
        int error = Z_OK;
        const std::string message = gzerror(file_, &error);  // "<fd:3>: data error"
        const std::string reason = text_after_colon(message);
        if (error == Z_ERRNO) throw BadFile(concat(path_, ": read failed: ", reason));
        if (count < 0 || error != Z_OK)  // Z_BUF_ERROR: the gzip stream is truncated
            reject("an intact gzip stream", concat("a damaged one (", reason, ")"));
        return static_cast<size_t>(count);
    }

    /// Returns an upper limit of the number of unpacked bytes.
    int64_t max_bytes() const { return max_bytes_; }

  private:
    std::string path_;
    std::string next_step_;
    gzFile file_;
    int64_t max_bytes_ = 0;
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

// Returns the number of bytes that a header claims, or -1 if it is more than
// kMaxIdxBytes.
int64_t claimed_bytes(const std::vector<int64_t>& sizes) {
    int64_t count = 1;
    for (const int64_t size : sizes) {
        if (size > 0 && count > kMaxIdxBytes / size) return -1;
        count *= size;
    }
    return count;
}

std::vector<int64_t> read_header(GzFile& file, int dimensions) {
    // Check the magic number.
    const std::array<uint8_t, 4> magic = {0, 0, kTypeByte,
                                          static_cast<uint8_t>(dimensions)};
    std::array<uint8_t, 4> word{};
    const size_t got = file.read(word);
    if (got < word.size())
        file.reject("an IDX header", concat("a file of ", got, " bytes"));
    if (word != magic)
        file.reject(
            concat("the magic number ", hex(magic), " of an IDX file of bytes with ",
                   dimensions, dimensions == 1 ? " dimension" : " dimensions"),
            hex(word));

    // Read the sizes, and reject a header that claims more than kMaxIdxBytes.
    std::vector<int64_t> sizes;
    for (int i = 0; i < dimensions; ++i) {
        if (file.read(word) < word.size())
            file.reject(concat("a header of ", 4 + 4 * dimensions, " bytes"),
                        "the end of the file inside it");
        sizes.push_back(int64_t{word[0]} << 24 | word[1] << 16 | word[2] << 8 | word[3]);
    }
    if (claimed_bytes(sizes) < 0)
        file.reject(concat("at most ", kMaxIdxBytes, " bytes"),
                    concat("a header that claims ", product(sizes)));
    return sizes;
}

}  // namespace

IdxFile read_idx(const std::string& path, int dimensions, const std::string& next_step) {
    GzFile file(path, next_step);
    IdxFile idx{.sizes = read_header(file, dimensions), .bytes = {}};
    const size_t expected = static_cast<size_t>(claimed_bytes(idx.sizes));

    // Read in steps: memory grows with the data read, not with the sizes in the header.
    // Without the reservation, each doubling of the vector would copy it, and for a
    // moment both copies would be in memory.
    idx.bytes.reserve(std::min(expected, static_cast<size_t>(file.max_bytes())));
    size_t have = 0;
    while (have < expected) {
        idx.bytes.resize(std::min(expected, have + kReadStep));
        const size_t got = file.read(std::span(idx.bytes).subspan(have));
        have += got;
        if (got == 0)
            file.reject(
                concat(expected, " bytes after the header (", product(idx.sizes), ")"),
                concat("only ", have));
    }

    // Check that the file ends here; zlib then also checks a gzipped file's checksum.
    std::array<uint8_t, 1> extra{};
    if (file.read(extra) > 0)
        file.reject(
            concat(expected, " bytes after the header (", product(idx.sizes), ")"),
            "more");
    return idx;
}

std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions,
                                    const std::string& next_step) {
    GzFile file(path, next_step);
    return read_header(file, dimensions);
}

}  // namespace mini::data
