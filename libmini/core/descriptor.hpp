// An RAII wrapper of a file descriptor: for files, pipes, sockets and signalfd.

#pragma once

#include <unistd.h>

#include <utility>

namespace mini {

/// Owns one file descriptor; the destructor closes it.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
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
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_ = -1;
};

}  // namespace mini
