// A non-blocking writer to minirun's stdout or stderr.
//
//     put() --> pending --flush()--> pipe, terminal, file
//                  '--- bytes that the reader has not taken yet
//
// During a blocking write minirun could not handle signals or the ends of ranks. So
// flush() polls before each write and writes at most PIPE_BUF bytes, which a writable
// pipe accepts as a whole. But a terminal may accept fewer bytes, and another process may
// fill a shared pipe. Therefore pipes and terminals are opened again, non-blocking,
// through /proc: O_NONBLOCK on the inherited descriptor would apply to all processes that
// share it.

#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

class Sink {
  public:
    /// Prepares to write to `fd`, which the caller owns and keeps open.
    explicit Sink(int fd);

    bool is_terminal() const { return terminal_; }
    bool has_colours() const { return colours_; }

    /// Appends to the pending bytes. Writes nothing yet.
    void put(std::string_view bytes);

    /// Writes as many bytes as the reader accepts now, in whole lines if possible. Does
    /// not block. After a write has failed, discards all bytes; if the reader has closed
    /// its end, the write raises SIGPIPE.
    void flush();

    /// Returns the errno of the first write that failed; 0 if none has.
    int error() const { return error_; }

    /// Returns whether any bytes are pending.
    bool is_blocked() const { return !pending_.empty(); }

    /// Appends the descriptor to poll for POLLOUT, if any bytes are pending.
    void watch(std::vector<pollfd>& polled) const;

    /// Discards the pending bytes.
    void drop() { pending_.clear(); }

    /// Whether the last line is unfinished. Set and read by the caller of put().
    bool line_open = false;

  private:
    int fd() const { return own_.is_open() ? own_.fd() : given_; }
    size_t write_some(std::string_view bytes);

    int given_;
    bool terminal_, colours_;
    Descriptor own_;  // the same pipe or terminal, opened again non-blocking; else closed
    std::string pending_;
    int error_ = 0;  // errno of the first write that failed
};

}  // namespace mini::tools
