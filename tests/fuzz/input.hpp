// How an input reaches a reader that takes no bytes: as numbers, as a file, or through a
// socket.

#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>

#include "libmini/distributed/net/socket.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/socket_pair.hpp"

namespace mini::fuzz {

/// Takes an input apart from the front.
class Taker {
  public:
    explicit Taker(Input input) : rest_(input) {}

    /// The next number; behind the input's end there are zeros.
    template <typename Number>
    Number take() {
        Number number{};
        const Input bytes = take_bytes(sizeof number);
        if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
        return number;
    }

    /// The next `count` bytes, or as many as there are.
    Input take_bytes(size_t count) {
        const Input bytes = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        return bytes;
    }

    /// All bytes that are left.
    Input rest() const { return rest_; }
    bool is_empty() const { return rest_.empty(); }

  private:
    Input rest_;
};

/// A file in memory, with a path as others have.
class MemoryFile {
  public:
    MemoryFile()
        : file_(::memfd_create("mini-fuzz", MFD_CLOEXEC)),
          path_("/proc/self/fd/" + std::to_string(file_.fd())) {}

    const std::string& path() const { return path_; }

    /// Replaces all that it holds.
    void set(Input bytes) {
        const auto size = static_cast<ssize_t>(bytes.size());
        if (::ftruncate(file_.fd(), 0) != 0 ||
            ::pwrite(file_.fd(), bytes.data(), bytes.size(), 0) != size)
            throw std::runtime_error("writing into memory failed");
    }

  private:
    dist::Socket file_;  // a descriptor with one owner
    std::string path_;
};

/// A connection on which `input` has come, and then its end. The other end is still there to
/// be sent to.
struct Connection {
    explicit Connection(Input input) {
        std::tie(mine, theirs) = test::socket_pair();
        dist::send_some(theirs, input);
        ::shutdown(theirs.fd(), SHUT_WR);
    }

    dist::Socket mine, theirs;
};

}  // namespace mini::fuzz
