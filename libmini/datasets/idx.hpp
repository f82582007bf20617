// IDX: the file format of MNIST, plain or compressed with gzip.
//
//     byte 0 1   2      3            4 ..                          then
//          0 0   0x08   dimensions   one size each, 4 bytes,       the bytes,
//                (uint8)             big-endian                    row by row
//
// The reader does not trust the header: memory is allocated as data is read from the
// file, not by the size that the header claims.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::data {

/// The maximum number of unpacked bytes of an IDX file: twenty times MNIST.
constexpr int64_t kMaxIdxBytes = int64_t{1} << 30;

/// The contents of an IDX file.
struct IdxFile {
    std::vector<int64_t> sizes;  // of each dimension, outermost first
    std::vector<uint8_t> bytes;  // as many as the product of the sizes
};

/// How to get the files, for error messages: "delete it and <this>".
constexpr const char* kFetchMnist = "run data/fetch_mnist";

/// Reads the IDX file of bytes at `path`, gzipped or not. Throws BadFile, in one line
/// that names the file, what was expected, what was found and the next step, when the
/// file is not a regular file, cannot be opened, has another type or number of
/// dimensions, claims more than kMaxIdxBytes, is truncated or damaged, or has extra
/// bytes at its end.
IdxFile read_idx(const std::string& path, int dimensions,
                 const std::string& next_step = kFetchMnist);

/// Reads only the sizes, with the same checks of the header.
std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions,
                                    const std::string& next_step = kFetchMnist);

}  // namespace mini::data
