#include "libmini/core/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"

namespace mini {

bool is_terminal(int fd) { return ::isatty(fd) == 1 && environment("TERM") != "dumb"; }

bool has_colours(int fd) { return is_terminal(fd) && environment("NO_COLOR").empty(); }

void open_standard_files() {
    int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0) ::close(fd);
}

void finish_stdout() {
    std::cout.flush();
    MINI_CHECK(std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good(),
               "a part of stdout could not be written; is its disk full?");
}

}  // namespace mini
