// An event: a flag that poll can wait for.

#pragma once

#include <cerrno>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

/// Thread-safe. A signal handler may call set().
class Event {
  public:
    /// Throws Error if the process has no descriptor left.
    Event() : descriptor_(system().new_event()) {
        MINI_CHECK(descriptor_.is_open(), system_message("eventfd", errno));
    }

    /// Returns the descriptor to poll: readable from set() until clear().
    int fd() const { return descriptor_.fd(); }

    /// Sets the event, and wakes the threads that poll fd().
    void set() noexcept { system().set_event(fd()); }

    /// Clears the event.
    void clear() noexcept { system().clear_event(fd()); }

  private:
    Socket descriptor_;
};

}  // namespace mini::dist
