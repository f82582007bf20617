// Files that are read completely or not at all, and written completely or not at all.
//
// A new file is written under a temporary name in the same folder and then renamed; the
// rename is atomic. So a reader of the final name always finds the old contents or the
// new contents, never a mixture, even after a crash:
//
//     write model.tmp-417-0, fsync it      a crash here leaves the old model
//     rename it to model                   a crash here leaves the old or the new model
//     fsync the folder                     a crash after this leaves the new model
//
// labs/17-faults-and-checkpoints has a disk in memory that shows the states after a crash.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mini::io {

/// Throws BadFile: "path: expected ..., found ...; the next step".
[[noreturn]] void bad_file(const std::string& path, const std::string& expected,
                           const std::string& found, const std::string& next_step);

/// A regular file, open for reading. Every BadFile names the path.
class InputFile {
  public:
    /// Opens the file; does not block. Throws BadFile if the file cannot be opened, or is
    /// a folder, pipe or device; the message ends with `next_step`, unless it is "".
    explicit InputFile(const std::string& path, const std::string& next_step = "");
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& path() const { return path_; }

    /// Returns the size of the file when it was opened, in bytes.
    uint64_t size() const { return size_; }

    /// Reads `bytes.size()` bytes at `offset` into `bytes`. Throws BadFile if the file
    /// has fewer bytes or cannot be read.
    void read(uint64_t offset, std::span<std::byte> bytes) const;

    /// Throws BadFile if the file has more than `max_bytes` bytes; the message ends with
    /// `next_step`.
    void check_size(uint64_t max_bytes, const std::string& next_step) const;

    /// Returns all bytes. Throws BadFile as check_size(), called first, and read() do.
    std::vector<uint8_t> read_all(uint64_t max_bytes, const std::string& next_step) const;

  private:
    std::string path_;
    int fd_ = -1;
    uint64_t size_ = 0;
};

/// A file that appears at `path` only in commit(); until then, its contents are in a
/// temporary file. Throws BadFile, naming the path, when a system call fails.
class AtomicFile {
  public:
    /// Creates `path`.tmp-417-0, with this process's number and the first free number.
    /// Throws BadFile when this fails, or when `path` exists and is not a regular file; a
    /// link such as /dev/stdout to an open file is none (its target is in /proc). If `path`
    /// is another symbolic link, commit() replaces the link, and does not follow it.
    explicit AtomicFile(const std::string& path);

    /// Removes the temporary file unless commit() succeeded.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Appends all bytes to the temporary file, with several system calls if necessary.
    void write(std::span<const std::byte> bytes);

    /// Renames the temporary file to `path`; blocks until the file and its folder are on
    /// disk. If fsync fails, the bytes may be lost even if a second fsync succeeds; so
    /// commit() throws and does not retry.
    void commit();

  private:
    std::string path_;
    std::string temporary_;
    int fd_ = -1;
};

/// Throws BadFile unless a file can be saved at `path` now: writes a temporary file of
/// `bytes` zeros beside it, and removes it. A program that will save a result calls this
/// function before it computes the result. A symbolic link to nothing is rejected, too.
void check_can_save(const std::string& path, size_t bytes = 4096);

/// Creates a folder and its parents if they do not exist (`os.makedirs`); blocks until the
/// names of the new folders are on disk. Throws BadFile, naming the path.
void create_folder(const std::string& path);

/// Writes a text to an AtomicFile at `path` and commits it.
void write_file(const std::string& path, const std::string& text);

}  // namespace mini::io
