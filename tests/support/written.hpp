// Captures the output of code to stderr.

#pragma once

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"

namespace mini::test {

/// Redirects stderr to another descriptor until the end of the scope.
class StderrTo {
  public:
    explicit StderrTo(int fd) : saved_(dup(STDERR_FILENO)) { dup2(fd, STDERR_FILENO); }
    ~StderrTo() {
        dup2(saved_, STDERR_FILENO);
        close(saved_);
    }
    StderrTo(const StderrTo&) = delete;
    StderrTo& operator=(const StderrTo&) = delete;

  private:
    int saved_;
};

/// Returns the text that `body` writes to stderr. REQUIRES: the text fits in the buffer
/// of a pipe; otherwise `body` blocks forever. Throws Error if no pipe can be created.
inline std::string written_to_stderr(const std::function<void()>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw Error(system_message("pipe", errno));
    {
        const StderrTo pipe_end(ends[1]);
        close(ends[1]);
        body();
    }

    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    return text;
}

/// Returns what `body` writes to stderr while warnings are logged.
inline std::string warnings_of(const std::function<void()>& body) {
    const logging::Level before = logging::level();
    logging::set_level(logging::Level::kWarning);
    const std::string text = written_to_stderr(body);
    logging::set_level(before);
    return text;
}

}  // namespace mini::test
