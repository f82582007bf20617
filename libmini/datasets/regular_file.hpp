// Reads a file safely even if it is missing, a folder, a pipe without a writer, or far
// too long. Every error message is one line:
//
//     path: expected ..., found ...; the next step

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::data {

/// How error messages describe a file.
struct FileKind {
    std::string name;       // the expected kind: "an IDX file"
    std::string next_step;  // what to do otherwise: "run data/fetch_mnist"
};

/// Throws BadFile with the message above.
[[noreturn]] void bad_file(const std::string& path, const std::string& expected,
                           const std::string& found, const std::string& next_step);

/// An open regular file. Opening never blocks: a pipe, for example, is rejected.
class RegularFile {
  public:
    /// Throws BadFile when `path` cannot be opened or is not a regular file.
    RegularFile(const std::string& path, const FileKind& kind);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Returns the file's size in bytes when it was opened.
    int64_t size() const { return size_; }

    /// Returns the file descriptor; the caller owns it from now on.
    int release();

    /// Returns the whole contents. Throws BadFile for more than `max_bytes`, before
    /// memory is allocated, and when reading fails or ends early.
    std::vector<uint8_t> read_all(int64_t max_bytes);

  private:
    std::string path_;
    FileKind kind_;
    int fd_ = -1;
    int64_t size_ = 0;
};

}  // namespace mini::data
