// Reads a regular file. Throws for a missing file, a folder, a pipe without a writer, or
// a file that is too long, without waiting and without filling the memory. Every error
// message is one line:
//
//     path: expected ..., found ...; the next step

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::data {

/// How error messages describe a file.
struct FileKind {
    std::string name;       // the expected kind: "an IDX file"
    std::string next_step;  // what the user can do: "run data/fetch_mnist"
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

    /// Returns the size that the file had when it was opened, in bytes.
    int64_t size() const { return size_; }

    /// Reads up to out.size() bytes into `out`, and returns the number of bytes read; 0 at
    /// the end of the file. Throws BadFile if reading fails.
    size_t read(std::span<uint8_t> out);

    /// Returns the whole contents. Throws BadFile if the file has more than `max_bytes`
    /// (checked before memory is allocated), or if reading fails or ends early.
    std::vector<uint8_t> read_all(int64_t max_bytes);

  private:
    std::string path_;
    FileKind kind_;
    int fd_ = -1;
    int64_t size_ = 0;
    int64_t position_ = 0;
};

}  // namespace mini::data
