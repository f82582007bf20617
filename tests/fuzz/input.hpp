// Passes an input to functions that do not take bytes: as numbers, as a file, or through
// a socket.

#pragma once

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
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

/// A longer wait is a fault.
constexpr std::chrono::seconds kPatience(30);

/// Reads an input from the front.
class Taker {
  public:
    explicit Taker(Input input) : rest_(input) {}

    /// Returns the next number; bytes beyond the input's end are zero.
    template <typename Number>
    Number take() {
        Number number{};
        const Input bytes = take_bytes(sizeof number);
        if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
        return number;
    }

    /// Returns the next `count` bytes, or fewer at the end.
    Input take_bytes(size_t count) {
        const Input bytes = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(bytes.size());
        return bytes;
    }

    /// Returns all remaining bytes.
    Input rest() const { return rest_; }
    bool is_empty() const { return rest_.empty(); }

  private:
    Input rest_;
};

/// A file in memory that has a path.
class MemoryFile {
  public:
    MemoryFile()
        : file_(::memfd_create("mini-fuzz", MFD_CLOEXEC)),
          path_("/proc/self/fd/" + std::to_string(file_.fd())) {}

    const std::string& path() const { return path_; }

    /// Replaces the contents.
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

/// A connection on which `input` and the end of the stream have arrived. `theirs` still
/// accepts bytes.
struct Connection {
    explicit Connection(Input input) {
        std::tie(mine, theirs) = test::socket_pair();
        dist::send_some(theirs, input);
        ::shutdown(theirs.fd(), SHUT_WR);
    }

    dist::Socket mine, theirs;
};

}  // namespace mini::fuzz
