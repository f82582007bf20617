// FileSystem: the interface through which AtomicFile and CheckpointFolder change files. A
// test replaces the machine's FileSystem, to kill the process or to fail at any call.
//
//     file.hpp, checkpoint.hpp     add exceptions, temporary files and numbers
//     --------------------- FileSystem ---------------------
//     the machine's                makes system calls (file_system.cpp)
//     SimulatedDisk                loses power at any call (labs/17-faults-and-checkpoints)

#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

namespace mini::io {

/// Each function returns -1 and sets errno if it fails, like the system call of the same
/// name.
class FileSystem {
  public:
    /// Calls stat(2): stores the type and the size of the file at `path` in `status`.
    virtual int stat(const std::string& path, struct stat& status) = 0;

    /// Creates a file that does not exist yet, and returns a descriptor for writing
    /// (O_EXCL: errno is EEXIST if the file exists).
    virtual int create(const std::string& path) = 0;

    /// Returns a descriptor of the folder, for fsync().
    virtual int open_folder(const std::string& path) = 0;

    /// Writes bytes at the end of the file. Returns their number, which may be less than
    /// bytes.size().
    virtual ssize_t write(int fd, std::span<const std::byte> bytes) = 0;

    /// Blocks until the contents of a file, or the names in a folder, are on disk.
    virtual int fsync(int fd) = 0;

    /// Closes the descriptor, even if it reports an error.
    virtual int close(int fd) = 0;

    /// Gives the file `from` the name `to`, atomically; replaces a file of that name.
    virtual int rename(const std::string& from, const std::string& to) = 0;

    /// Calls unlink(2): removes the name `path`.
    virtual int remove(const std::string& path) = 0;

  protected:
    ~FileSystem() = default;
};

/// Returns the FileSystem in use: the machine's, unless a FileSystemGuard replaces it.
FileSystem& file_system() noexcept;

/// Returns the folder of the file at `path`; "." if the path names no folder.
std::string folder_of(const std::string& path);

/// Replaces the machine's FileSystem by `replacement` for the lifetime of the guard.
/// REQUIRES: no thread uses file_system() while the guard is constructed or destroyed;
/// only one guard exists at a time.
class FileSystemGuard {
  public:
    explicit FileSystemGuard(FileSystem& replacement);
    ~FileSystemGuard();
    FileSystemGuard(const FileSystemGuard&) = delete;
    FileSystemGuard& operator=(const FileSystemGuard&) = delete;
};

}  // namespace mini::io
