// Files that are read whole or not at all, and written whole or not at all.
//
// A new file grows under a temporary name in the same folder and takes its real name by
// rename, which the file system does in one step. A reader of the real name, also after
// a crash in the middle, finds the old contents or the new ones, never a mixture:
//
//     write model.tmp-417-0, fsync it      a crash here leaves the old model
//     rename it to model, fsync folder     a crash after this leaves the new one

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mini::io {

/// A regular file open for reading. Its errors are BadFile and name the path.
class InputFile {
  public:
    /// Throws BadFile when there is no such file, or it is a folder, pipe or device.
    explicit InputFile(const std::string& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& path() const { return path_; }

    /// Bytes that the file had when it was opened.
    uint64_t size() const { return size_; }

    /// Fills `bytes` from position `offset`. Throws BadFile when the file ends before.
    void read(uint64_t offset, std::span<std::byte> bytes) const;

  private:
    std::string path_;
    int fd_ = -1;
    uint64_t size_ = 0;
};

/// A file that appears at `path` with commit(), or never. Its errors are BadFile and name
/// the path.
class AtomicFile {
  public:
    /// Makes the temporary file. Throws BadFile when that fails, or when `path` is
    /// something other than a regular file. A symbolic link at `path` will be replaced,
    /// not followed.
    explicit AtomicFile(const std::string& path);

    /// Removes the temporary file unless it was committed.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    /// Appends to the temporary file.
    void write(std::span<const std::byte> bytes);

    /// Gives the file its name; blocks until file and folder are on the disk.
    void commit();

  private:
    std::string path_;
    std::string temporary_;
    int fd_ = -1;
};

}  // namespace mini::io
