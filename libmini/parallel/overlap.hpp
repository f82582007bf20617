// How much of DDP's communication was hidden behind the backward pass, read off the event log.

#pragma once

#include <vector>

#include "libmini/core/events.hpp"

namespace mini::parallel {

/// The share, 0 to 1, of the time from launch to end of the buckets' all-reduces that
/// fell before the end of the backward pass they belong to; 0 when the log holds none.
/// The rest is what the ranks stood waiting.
double hidden_communication(const std::vector<Event>& events);

}  // namespace mini::parallel
