#include "libmini/tools/minirun/sink.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"

namespace mini::tools {
namespace {

// Opens a pipe or terminal again, non-blocking. Returns a closed descriptor for other
// files: a regular file that is opened again would be overwritten from its start.
Descriptor open_again(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return Descriptor();
    if (!S_ISFIFO(status.st_mode) && isatty(fd) == 0) return Descriptor();
    const std::string name = concat("/proc/self/fd/", fd);
    return Descriptor(open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

// Returns as many whole lines as fit into PIPE_BUF bytes, or a piece of a longer line.
std::string_view next_piece(std::string_view bytes) {
    if (bytes.size() <= PIPE_BUF) return bytes;
    const size_t line_end = bytes.rfind('\n', PIPE_BUF - 1);
    return bytes.substr(0, line_end == std::string_view::npos ? PIPE_BUF : line_end + 1);
}

}  // namespace

Sink::Sink(int fd)
    : given_(fd),
      terminal_(isatty(fd) == 1),
      colours_(mini::has_colours(fd)),
      own_(open_again(fd)) {}

void Sink::put(std::string_view bytes) {
    if (error_ == 0) pending_ += bytes;
}

void Sink::flush() {
    size_t written = 0;
    while (written < pending_.size() && error_ == 0) {
        const size_t count =
            write_some(next_piece(std::string_view(pending_).substr(written)));
        if (count == 0) break;
        written += count;
    }
    pending_.erase(0, error_ != 0 ? pending_.size() : written);
}

// Returns how many bytes the reader accepted; 0 if the reader accepts no bytes now.
size_t Sink::write_some(std::string_view bytes) {
    pollfd writable{fd(), POLLOUT, 0};
    if (poll(&writable, 1, 0) <= 0) return 0;
    const ssize_t count = write(fd(), bytes.data(), bytes.size());
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EAGAIN && errno != EINTR) error_ = errno;
    return 0;
}

void Sink::watch(std::vector<pollfd>& polled) const {
    if (is_blocked()) polled.push_back({fd(), POLLOUT, 0});
}

}  // namespace mini::tools
