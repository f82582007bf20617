// Messages for people, on stderr, each with its rank: "[rank 1] warning: ...".
//
// MINI_LOG_LEVEL = debug | info | warning | error | off sets the least level shown
// (warning when unset). A line is written with one call, so lines of several ranks do not
// mix.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::logging {

/// How much a message matters; kOff is above all of them.
enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// The rank that this thread's messages carry; -1, the start value, shows none.
void set_rank(int rank);
int rank();

/// The least level that is shown, as MINI_LOG_LEVEL gave it at first use or set_level
/// since.
Level level();
void set_level(Level level);

/// Writes `message` as one line when `level` is shown.
void write(Level level, const std::string& message);

/// Writes the parts in a row as a message of this level.
template <typename... Parts>
void debug(const Parts&... parts) {
    if (level() <= Level::kDebug) write(Level::kDebug, concat(parts...));
}

/// Writes the parts in a row as a message of this level.
template <typename... Parts>
void info(const Parts&... parts) {
    if (level() <= Level::kInfo) write(Level::kInfo, concat(parts...));
}

/// Writes the parts in a row as a message of this level.
template <typename... Parts>
void warning(const Parts&... parts) {
    if (level() <= Level::kWarning) write(Level::kWarning, concat(parts...));
}

/// Writes the parts in a row as a message of this level.
template <typename... Parts>
void error(const Parts&... parts) {
    if (level() <= Level::kError) write(Level::kError, concat(parts...));
}

}  // namespace mini::logging
