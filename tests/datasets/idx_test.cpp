#include "libmini/datasets/idx.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/datasets/damage.hpp"
#include "tests/support/catch.hpp"

using mini::BadFile;
using mini::data::IdxFile;
using mini::data::read_idx;
using mini::data::read_idx_sizes;

namespace {

const Bytes kImages = idx_header({3, 4, 5}) + ramp(60, 256);

// Returns the error message of read_idx for a file with these contents, or "".
std::string idx_error(const Bytes& contents, int dimensions = 3) {
    const Folder folder;
    const std::string path = folder / "file";
    write_file(path, contents);
    const std::string message = message_of<BadFile>([&] { read_idx(path, dimensions); });
    CHECK(message.find('\n') == std::string::npos);
    CHECK((message.empty() || message.rfind(path + ": ", 0) == 0));
    CHECK((message.empty() || contains(message, "fetch_mnist")));
    return message;
}

}  // namespace

TEST_CASE("an IDX file is read plain or gzipped with any file name") {
    const Folder folder;
    write_file(folder / "plain", kImages);
    write_file(folder / "packed.gz", gzipped(kImages));
    write_file(folder / "plain.gz", kImages);
    for (const char* name : {"plain", "packed.gz", "plain.gz"}) {
        CAPTURE(name);
        const IdxFile file = read_idx(folder / name, 3);
        CHECK(file.sizes == std::vector<int64_t>{3, 4, 5});
        CHECK(file.bytes == ramp(60, 256));
        CHECK(read_idx_sizes(folder / name, 3) == file.sizes);
    }
}

TEST_CASE("the members of a gzipped IDX file follow one another") {
    const Folder folder;
    for (const size_t cut :
         {size_t{0}, size_t{2}, size_t{16}, size_t{40}, kImages.size()}) {
        CAPTURE(cut);
        const Bytes rest(kImages.begin() + static_cast<std::ptrdiff_t>(cut),
                         kImages.end());
        const Bytes members = gzipped(first(kImages, cut)) + gzipped(rest);
        write_file(folder / "members.gz", members);
        CHECK(read_idx(folder / "members.gz", 3).bytes == ramp(60, 256));
        CHECK(contains(idx_error(members + Bytes{1, 2, 3}), "intact gzip stream"));
    }
}

TEST_CASE("zeros after a gzip member are padding and other bytes are an error") {
    const Bytes packed = gzipped(kImages);
    const Bytes half = gzipped(first(kImages, 30));
    const Bytes rest = gzipped({kImages.begin() + 30, kImages.end()});
    CHECK(idx_error(packed + Bytes{0}) == "");
    CHECK(idx_error(packed + Bytes(700'000)) == "");  // longer than the reader's buffer
    CHECK(idx_error(half + Bytes(512) + rest + Bytes(3)) == "");
    for (const Bytes& garbage : {Bytes{1}, Bytes{0x1f}, Bytes{0x1f, 0x8b}, Bytes{0, 0, 7},
                                 Bytes{'g', 'a', 'r', 'b', 'a', 'g', 'e'}})
        CHECK(contains(idx_error(packed + garbage), "intact gzip stream"));
}

TEST_CASE("a gzip header may have extra bytes, a name, a comment and a checksum") {
    const Bytes packed = gzipped(kImages);
    const Bytes body(packed.begin() + 10, packed.end());
    const Bytes extra = {4, 0, 'a', 'b', 'c', 'd'}, name = {'x', '.', 'i', 0},
                comment = {'h', 'i', 0};
    for (uint8_t flags = 0; flags < 32; ++flags) {  // 1: the file is text
        CAPTURE(int{flags});
        Bytes header = first(packed, 10);
        header[3] = flags;
        if (flags & 4) header = header + extra;
        if (flags & 8) header = header + name;
        if (flags & 16) header = header + comment;
        const auto crc = crc32(0, header.data(), static_cast<unsigned>(header.size()));
        if (flags & 2)
            header = header + Bytes{static_cast<uint8_t>(crc & 255),
                                    static_cast<uint8_t>(crc >> 8 & 255)};
        CHECK(idx_error(header + body) == "");
    }
}

TEST_CASE("an IDX file larger than one read step is read completely") {
    const Folder folder;
    const size_t size = 3'500'001;
    write_file(folder / "large.gz",
               gzipped(idx_header({static_cast<uint32_t>(size)}) + ramp(size, 253)));
    CHECK(read_idx(folder / "large.gz", 1).bytes == ramp(size, 253));
}

TEST_CASE("an IDX file may have no items") {
    const Folder folder;
    write_file(folder / "none", idx_header({0}));
    CHECK(read_idx(folder / "none", 1).bytes.empty());
}

TEST_CASE("an IDX file truncated at any byte is rejected both plain and gzipped") {
    constexpr size_t kHeader = 16;
    for (size_t length = 0; length < kImages.size(); ++length) {
        CAPTURE(length);
        const std::string found = length < 4         ? std::to_string(length) + " bytes"
                                  : length < kHeader ? "the end of the file inside it"
                                                     : "found only ";
        REQUIRE(contains(idx_error(first(kImages, length)), found));
        REQUIRE(contains(idx_error(gzipped(first(kImages, length))), found));
    }
    const Bytes packed = gzipped(kImages);
    for (size_t length = 0; length < packed.size(); ++length) {
        CAPTURE(length);
        REQUIRE(idx_error(first(packed, length)) != "");
    }
}

TEST_CASE(
    "a damaged gzip stream is rejected even if only a bit of its checksum is wrong") {
    const Bytes packed = gzipped(kImages);
    for (const size_t position :
         {packed.size() - 8, packed.size() - 1, packed.size() / 2}) {
        CAPTURE(position);
        Bytes damaged = packed;
        damaged[position] ^= 1;
        REQUIRE(contains(idx_error(damaged), "intact gzip stream"));
    }
}

TEST_CASE("an error message has the expected and the found value") {
    CHECK(contains(idx_error(idx_header({3, 4, 5}) + ramp(59, 256)),
                   "expected 60 bytes after the header (3 x 4 x 5), found only 59"));
    CHECK(contains(idx_error(kImages + Bytes{0}), "expected 60 bytes after the header"));
    CHECK(contains(idx_error(kImages + Bytes{0}), "found more"));
    CHECK(contains(idx_error(kImages, 1), "expected the magic number 0x00000801"));
    CHECK(contains(idx_error(kImages, 1), "found 0x00000803"));
    CHECK(contains(idx_error({'P', 'K', 3, 4, 0, 0}), "found 0x504b0304"));
    CHECK(contains(idx_error({}), "found a file of 0 bytes"));
}

TEST_CASE(
    "an IDX header that claims too many bytes is rejected before memory is allocated") {
    const uint32_t largest = 0xffffffff;
    CHECK(contains(idx_error(idx_header({largest, largest, largest})),
                   "claims 4294967295 x 4294967295 x 4294967295"));
    CHECK(contains(idx_error(idx_header({1u << 31, 1u << 31, 4})), "expected at most"));
    CHECK(contains(idx_error(idx_header({(1u << 30) + 1}), 1), "expected at most"));

    // A claim of exactly the limit is accepted; memory grows with the data, 5 bytes here.
    CHECK(contains(idx_error(idx_header({1u << 30}) + ramp(5, 256), 1), "found only 5"));
}

TEST_CASE(
    "an IDX file that unpacks to more bytes than its header claims is rejected early") {
    const Bytes bomb = gzipped(idx_header({10}) + Bytes(50'000'000));
    CHECK(bomb.size() < 500'000);
    CHECK(contains(idx_error(bomb, 1),
                   "expected 10 bytes after the header (10), found more"));
}

TEST_CASE("read_idx rejects files that are not regular without blocking") {
    const Folder folder;
    const auto message = [](const std::string& path) {
        return message_of<BadFile>([&] { read_idx(path, 3); });
    };
    CHECK(contains(message(folder.path()),
                   "not a regular file, but a directory; give the path of an IDX file"));
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK(contains(message(folder / "fifo"), "but a pipe"));
    CHECK(contains(message("/dev/null"), "but a pipe, socket or device"));
    CHECK(contains(message(folder / "nothing"), "No such file or directory"));
    REQUIRE(::symlink("loop", (folder / "loop").c_str()) == 0);
    CHECK(contains(message(folder / "loop"), "open failed"));
}

TEST_CASE("an IDX header with a dimension of 0 claims 0 bytes even if others are large") {
    const uint32_t largest = 0xffffffff;
    for (const auto& sizes : std::vector<std::vector<uint32_t>>{
             {0, largest, largest}, {0, 0, 0}, {5, 0, 5}, {0, 28, 28}}) {
        CHECK(idx_error(idx_header(sizes)) == "");
        CHECK(contains(idx_error(idx_header(sizes) + Bytes{1}), "found more"));
    }
}

TEST_CASE(
    "memory grows with the data of an IDX file and not with the size in its header") {
    const Folder folder;
    const auto growth = [&](const Bytes& contents) {
        write_file(folder / "file", contents);
        return peak_growth_mib([&] { read_idx(folder / "file", 1); });
    };
    const int64_t bound = kSanitized ? 64 : 8;
    CHECK(growth(idx_header({1u << 30}) + ramp(5, 256)) < bound);
    CHECK(growth(gzipped(idx_header({10}) + Bytes(100'000'000))) < bound);
    CHECK(growth(gzipped(idx_header({0xffffffff}) + Bytes(100'000'000))) < bound);
}

TEST_CASE("an IDX file with a damaged byte is read or throws BadFile and never crashes") {
    const Folder folder;
    const auto read = [&](const Bytes& bytes) {
        write_file(folder / "file", bytes);
        read_idx(folder / "file", 3);
    };
    // In a plain file, a damaged header is detected and a damaged pixel is not.
    const auto length = static_cast<int64_t>(kImages.size());
    CHECK(count_rejected(kImages, read) == length + 3 * 16);
    const Bytes packed = gzipped(kImages);
    CHECK(count_rejected(packed, read) > 3 * static_cast<int64_t>(packed.size()));
}

TEST_CASE("an IDX file without read permission is rejected") {
    const Folder folder;
    write_file(folder / "secret", kImages);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    REQUIRE(::chmod((folder / "secret").c_str(), 0) == 0);
    const std::string message =
        message_without_root([&] { read_idx(folder / "secret", 3); });
    CHECK(contains(message,
                   "open failed: Permission denied; give the path of an IDX file"));
}
