// Reading a file that may be anything: missing, a folder, a pipe without a writer, or
// far too long. Every failure is one line that says
//
//     path: expected ..., found ...; the next step

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::data {

/// How messages speak of a file.
struct FileKind {
    std::string name;       // what it should be: "an IDX file"
    std::string next_step;  // what to do when it is not: "run data/fetch_mnist"
};

/// Throws BadFile with the line above.
[[noreturn]] void bad_file(const std::string& path, const std::string& expected,
                           const std::string& found, const std::string& next_step);

/// An open regular file, and nothing else: a pipe is not waited for.
class RegularFile {
  public:
    /// Throws BadFile when `path` cannot be opened or is no regular file.
    RegularFile(const std::string& path, const FileKind& kind);
    ~RegularFile();
    RegularFile(const RegularFile&) = delete;
    RegularFile& operator=(const RegularFile&) = delete;

    /// Its size in bytes when it was opened.
    int64_t size() const { return size_; }

    /// Its descriptor, which is the caller's from now on.
    int release();

    /// All of it. Throws BadFile for more than `max_bytes`, before anything is allocated,
    /// and when reading fails or ends early.
    std::vector<uint8_t> read_all(int64_t max_bytes);

  private:
    std::string path_;
    FileKind kind_;
    int fd_ = -1;
    int64_t size_ = 0;
};

}  // namespace mini::data
