// A file descriptor that closes itself: the one handle that files, pipes, sockets and signalfd
// share.

#pragma once

#include <unistd.h>

#include <utility>

namespace mini {

/// Owns one descriptor and closes it at its end.
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

    /// The number that system calls want; -1 when there is none.
    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    void close() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

  private:
    int fd_ = -1;
};

}  // namespace mini
