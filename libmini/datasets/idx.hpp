// IDX: the file format of MNIST, read plain or through gzip.
//
//     byte 0 1   2      3            4 ..                          then
//          0 0   0x08   dimensions   one size each, 4 bytes,       the bytes,
//                (uint8)             big-endian                    row by row
//
// The reader believes nothing: what is allocated grows with what the file really
// delivers, never with what its header promises.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::data {

/// The most bytes an IDX file may hold, unpacked: twenty times MNIST.
constexpr int64_t kMaxIdxBytes = int64_t{1} << 30;

/// What a file in MNIST's format holds.
struct IdxFile {
    std::vector<int64_t> sizes;  // of each dimension, outermost first
    std::vector<uint8_t> bytes;  // their product many
};

/// How to get the files that are read, for messages: "delete it and <this>".
constexpr const char* kFetchMnist = "run data/fetch_mnist";

/// Reads the IDX file of bytes at `path`, whether it is gzipped or not. Throws BadFile,
/// in one line that names the file, what was expected, what was found and the next step,
/// when it is no regular file, cannot be opened, has another type or number of
/// dimensions, promises more than kMaxIdxBytes, is cut short, is damaged, or goes on
/// after its end.
IdxFile read_idx(const std::string& path, int dimensions,
                 const std::string& next_step = kFetchMnist);

/// The sizes alone, with the same checks of the header.
std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions,
                                    const std::string& next_step = kFetchMnist);

}  // namespace mini::data
