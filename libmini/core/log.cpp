#include "libmini/core/log.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

#include "libmini/core/machine.hpp"
#include "libmini/core/terminal.hpp"

namespace mini::logging {
namespace {

struct Style {
    std::string_view name;
    std::string_view colour;
};

// Indexed by level. The colours are grey, blue, yellow and red.
constexpr std::array<Style, 5> kStyles = {{{"debug", "\x1b[90m"},
                                           {"info", "\x1b[34m"},
                                           {"warning", "\x1b[33m"},
                                           {"error", "\x1b[31m"},
                                           {"off", ""}}};
constexpr std::string_view kColourEnd = "\x1b[0m";

thread_local int current_rank = -1;

std::string format_line(Level level, const std::string& message) {
    const Style& style = kStyles[static_cast<size_t>(level)];
    const bool has_colour = has_colours(STDERR_FILENO);
    return concat(current_rank < 0 ? "" : concat("[rank ", current_rank, "] "),
                  has_colour ? style.colour : "", style.name, ":",
                  has_colour ? kColourEnd : "", " ", message, '\n');
}

// Writes the whole line with one system call, so that lines of several ranks do not
// interleave. If a full pipe takes only a part, writes the rest with more calls. Drops a
// line that cannot be written.
void write_to_stderr(std::string_view line) {
    while (!line.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
        if (written < 0 && errno != EINTR) return;
        if (written > 0) line.remove_prefix(static_cast<size_t>(written));
    }
}

Level level_from_environment() {
    const std::string value = environment("MINI_LOG_LEVEL");
    if (value.empty()) return Level::kWarning;
    for (size_t i = 0; i < kStyles.size(); ++i)
        if (kStyles[i].name == value) return static_cast<Level>(i);
    write_to_stderr(
        format_line(Level::kWarning,
                    concat("MINI_LOG_LEVEL is \"", value,
                           "\", not debug, info, warning, error or off; using warning")));
    return Level::kWarning;
}

std::atomic<Level>& shown_level() {
    static std::atomic<Level> level = level_from_environment();
    return level;
}

}  // namespace

void set_rank(int rank) { current_rank = rank; }

int rank() { return current_rank; }

Level level() { return shown_level().load(std::memory_order_relaxed); }

void set_level(Level level) { shown_level().store(level, std::memory_order_relaxed); }

void write(Level level, const std::string& message) {
    if (level < logging::level() || level >= Level::kOff) return;
    write_to_stderr(format_line(level, message));
}

}  // namespace mini::logging
