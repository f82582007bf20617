// An RAII wrapper of a file descriptor: for files, pipes, sockets and signalfd.

#pragma once

#include <unistd.h>

#include <utility>

namespace mini {

/// Owns one file descriptor; the destructor closes it with `close_descriptor`.
template <void (*close_descriptor)(int) noexcept>
class OwnedDescriptor {
  public:
    OwnedDescriptor() = default;
    explicit OwnedDescriptor(int fd) : fd_(fd) {}
    ~OwnedDescriptor() { close(); }
    OwnedDescriptor(OwnedDescriptor&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }

    /// Returns the file descriptor for system calls; -1 when none is open.
    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close() noexcept {
        if (fd_ >= 0) close_descriptor(std::exchange(fd_, -1));
    }

    /// Gives the descriptor to the caller, who must close it; -1 when none is open.
    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

/// Closes a file descriptor of the operating system by close(2).
inline void close_file(int fd) noexcept { ::close(fd); }

/// Owns a file descriptor of the operating system.
using Descriptor = OwnedDescriptor<close_file>;

}  // namespace mini
