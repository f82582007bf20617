// IDX: the file format of MNIST, plain or compressed with gzip.
//
//     byte 0 1   2      3            4 ..                          then
//          0 0   0x08   dimensions   one size each, 4 bytes,       the bytes,
//                (uint8)             big-endian                    row by row
//
// The reader does not trust the header: it allocates memory step by step, as it reads
// data from the file, and not all at once for the size that the header claims.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::data {

/// The maximum number of unpacked bytes of an IDX file: about twenty times MNIST's.
constexpr int64_t kMaxIdxBytes = int64_t{1} << 30;

/// The contents of an IDX file.
struct IdxFile {
    std::vector<int64_t> sizes;  // of each dimension, outermost first
    std::vector<uint8_t> bytes;  // as many as the product of the sizes
};

/// How to get the files, in error messages: "delete it and run data/fetch_mnist to ...".
constexpr const char* kFetchMnist = "run data/fetch_mnist";

/// Reads the IDX file of bytes at `path`, gzipped or not. A gzipped file may have several
/// members, and zeros after them (`gzip.open`). Throws BadFile if the file is
/// not a regular file, cannot be opened, has another type or number of dimensions, claims
/// more than kMaxIdxBytes, is truncated or damaged, or has extra bytes at its end. The
/// error message is one line with the file, what was expected, what was found and the
/// next step.
IdxFile read_idx(const std::string& path, int dimensions);

/// Returns the sizes of the dimensions; reads and checks only the header. Throws BadFile
/// as read_idx does.
std::vector<int64_t> read_idx_sizes(const std::string& path, int dimensions);

}  // namespace mini::data
