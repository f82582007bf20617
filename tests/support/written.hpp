// What code writes to stderr.

#pragma once

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::test {

/// What `body` writes to stderr, by way of a pipe, whose buffer the text must fit.
inline std::string written_to_stderr(const std::function<void()>& body) {
    int ends[2];
    if (pipe(ends) != 0) throw Error(system_message("pipe", errno));
    const int saved = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);

    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    close(ends[0]);
    return text;
}

}  // namespace mini::test
