#include "libmini/datasets/idx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"

namespace mini::data {
namespace {

constexpr uint8_t kTypeByte = 0x08;
constexpr size_t kReadStep = size_t{1} << 20;
constexpr size_t kInputBuffer = 256 << 10;

// deflate unpacks a byte to at most 1032 bytes (zlib.net, "Technical Details").
constexpr size_t kMaxExpansion = 1032;

// The format that inflateInit2 reads: gzip, with a window of 2^15 bytes.
constexpr int kGzip = 15 + 16;

// A file that is unpacked if it is gzipped, with the rules of Python's gzip module: its
// members follow one another, zeros after a member are padding, and any other byte after
// a member is an error. (zlib also rejects a wrong checksum of a header, and its reserved
// flags.)
class UnpackedFile {
  public:
    explicit UnpackedFile(const std::string& path)
        : file_(path, concat("give the path of an IDX file, or ", kFetchMnist)) {
        refill();
        is_gzipped_ = stream_.avail_in >= 2 && input_[0] == 0x1f && input_[1] == 0x8b;
        in_member_ = is_gzipped_;
        if (inflateInit2(&stream_, kGzip) != Z_OK)
            throw Error("inflateInit2 failed: out of memory");
    }
    ~UnpackedFile() { inflateEnd(&stream_); }
    UnpackedFile(const UnpackedFile&) = delete;
    UnpackedFile& operator=(const UnpackedFile&) = delete;

    [[noreturn]] void reject(const std::string& expected,
                             const std::string& found) const {
        io::bad_file(file_.path(), expected, found,
                     concat("delete it and ", kFetchMnist, " to get the right one"));
    }

    /// Reads up to out.size() bytes into `out`, and returns the number of bytes read;
    /// fewer at the end of the file.
    size_t read(std::span<uint8_t> out) {
        stream_.next_out = out.data();
        stream_.avail_out = static_cast<unsigned>(out.size());
        while (stream_.avail_out > 0 && (is_gzipped_ ? in_member_ : refill()))
            is_gzipped_ ? unpack() : copy();
        return out.size() - stream_.avail_out;
    }

    /// Returns an upper limit of the number of unpacked bytes.
    size_t max_bytes() const { return file_.size() * kMaxExpansion; }

  private:
    // Reads more of the file once its input is used up; false at the end of the file.
    bool refill() {
        if (stream_.avail_in > 0) return true;
        const size_t count = std::min<size_t>(input_.size(), file_.size() - position_);
        file_.read(position_, std::as_writable_bytes(std::span(input_)).first(count));
        position_ += count;
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<unsigned>(count);
        return count > 0;
    }

    void unpack() {
        const int code = inflate(&stream_, Z_NO_FLUSH);
        if (code == Z_STREAM_END) return begin_next_member();
        if (code != Z_OK && code != Z_BUF_ERROR)
            reject("an intact gzip stream",
                   concat("a damaged one (",
                          stream_.msg ? stream_.msg : "data that do not unpack", ")"));
        if (stream_.avail_out > 0 && !refill())
            reject("an intact gzip stream", "a damaged one (its end is missing)");
    }

    void begin_next_member() {
        while (refill() && *stream_.next_in == 0) {
            ++stream_.next_in;
            --stream_.avail_in;
        }
        in_member_ = stream_.avail_in > 0;
        inflateReset(&stream_);
    }

    void copy() {
        const unsigned count = std::min(stream_.avail_in, stream_.avail_out);
        std::memcpy(stream_.next_out, stream_.next_in, count);
        stream_.next_in += count;
        stream_.next_out += count;
        stream_.avail_in -= count;
        stream_.avail_out -= count;
    }

    io::InputFile file_;
    uint64_t position_ = 0;  // in the file, of the next byte to read
    std::vector<uint8_t> input_ = std::vector<uint8_t>(kInputBuffer);
    z_stream stream_{};  // with the input and the output, also of a plain file
    bool is_gzipped_ = false;
    bool in_member_ = false;  // of a gzipped file
};

std::string hex(std::span<const uint8_t> bytes) {
    return fmt::format("0x{:02x}", fmt::join(bytes, ""));
}

std::string product(const std::vector<int64_t>& sizes) {
    return fmt::format("{}", fmt::join(sizes, " x "));
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

std::vector<int64_t> read_header(UnpackedFile& file, int dimensions) {
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

IdxFile read_idx(const std::string& path, int dimensions) {
    UnpackedFile file(path);
    IdxFile idx{.sizes = read_header(file, dimensions), .bytes = {}};
    const size_t expected = static_cast<size_t>(claimed_bytes(idx.sizes));

    // Read in steps: memory grows with the data read, not with the sizes in the header.
    // Without the reservation, each doubling of the vector would copy it, and for a
    // moment both copies would be in memory.
    idx.bytes.reserve(std::min(expected, file.max_bytes()));
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

    // Check that the file ends here; this also checks a gzipped file's checksum.
    std::array<uint8_t, 1> extra{};
    if (file.read(extra) > 0)
        file.reject(
            concat(expected, " bytes after the header (", product(idx.sizes), ")"),
            "more");
    return idx;
}

std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions) {
    UnpackedFile file(path);
    return read_header(file, dimensions);
}

}  // namespace mini::data
