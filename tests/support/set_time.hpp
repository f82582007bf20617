// A clock that stands still until a test sets it.

#pragma once

#include <chrono>

#include "libmini/distributed/net/system.hpp"

namespace mini::test {

/// While an object of this class exists, it is the clock of the process. REQUIRES: one
/// thread.
class SetTime final : public dist::System {
  public:
    Moment time = Moment(std::chrono::hours(1));
    Moment::duration tick{};  // each look at the clock advances it by this

    Moment now() noexcept override { return time += tick; }

  private:
    dist::SystemGuard guard_{*this};
};

}  // namespace mini::test
