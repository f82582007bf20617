// Log messages on stderr, each with the rank of its thread: "[rank 1] warning: ...".
//
// MINI_LOG_LEVEL = debug | info | warning | error | off sets the minimum level
// (warning when unset). A line is written with one system call, so lines of several ranks
// do not interleave.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::logging {

/// The level of a message; kOff is above all levels of messages.
enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// Sets the rank in this thread's messages; -1, the initial value, prints no rank.
void set_rank(int rank);

/// Returns the rank in this thread's messages; -1 when it is not set.
int rank();

/// Returns the minimum level: the level of the last set_level, or before any set_level
/// the level of MINI_LOG_LEVEL, which is read once, at first use.
Level level();

/// Sets the minimum level for all threads of this process.
void set_level(Level level);

/// Writes `message` as one line if `level` is at least the minimum level.
void write(Level level, const std::string& message);

/// Logs the concatenation of the parts at the level kInfo.
template <typename... Parts>
void info(const Parts&... parts) {
    if (level() <= Level::kInfo) write(Level::kInfo, concat(parts...));
}

/// Logs the concatenation of the parts at the level kWarning.
template <typename... Parts>
void warning(const Parts&... parts) {
    if (level() <= Level::kWarning) write(Level::kWarning, concat(parts...));
}

}  // namespace mini::logging
