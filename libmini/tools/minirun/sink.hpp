// One file that minirun writes to, stdout or stderr, without ever waiting for its reader.
//
//     put() --> pending --flush()--> pipe, terminal, file
//                  '--- what the reader has not taken yet
//
// A blocking write would keep minirun from signals and from the deaths of ranks. So
// flush() asks poll before each write and writes PIPE_BUF bytes at most, which a writable
// pipe takes whole. A terminal may take fewer, and another process may fill a pipe that
// it shares with us; there the file is opened once more, by its name under /proc, because
// O_NONBLOCK on the descriptor that we have would hold for all who share it.

#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

class Sink {
  public:
    /// Writes to descriptor `fd`, which stays the caller's.
    explicit Sink(int fd);

    bool is_terminal() const { return terminal_; }

    /// Appends to what is to be written. Writes nothing yet.
    void put(std::string_view bytes);

    /// Writes as much as the reader takes now, whole lines where it can. A reader that
    /// has gone takes all: SIGPIPE says that it has.
    void flush();

    /// Whether anything waits for the reader.
    bool is_blocked() const { return !pending_.empty(); }

    /// Appends what to poll for: room, when anything waits for it.
    void watch(std::vector<pollfd>& polled) const;

    /// Forgets what waits for the reader.
    void drop() { pending_.clear(); }

    /// Whether a line was begun and not ended yet: for the one who puts lines.
    bool line_open = false;

  private:
    int fd() const { return own_.is_open() ? own_.fd() : given_; }
    size_t write_some(std::string_view bytes);

    int given_;
    bool terminal_;
    Descriptor own_;  // the same file, opened non-blocking; not for all sorts of files
    std::string pending_;
    bool broken_ = false;  // its reader has gone
};

}  // namespace mini::tools
