#include "libmini/tools/minirun/output.hpp"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/terminal.hpp"

namespace mini::tools {
namespace {

constexpr size_t kMaxLineBytes = 1 << 20;  // longer lines are written in pieces
constexpr size_t kMaxTailLineBytes = 400;
constexpr int kReaderPauseMs = 1000;
constexpr int kLastReads =
    16;  // enough for a full pipe; a process outside the group may write forever

// Returns the part of a line that a terminal still shows: after the last carriage return.
std::string_view visible(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line.substr(line.rfind('\r') + 1);
}

// Blocks until the reader of `fd` accepts bytes. Meanwhile minirun cannot handle signals.
// If the reader pauses for long, those that end or stop a program do this to minirun, and
// the cleaner ends the ranks.
void wait_until_writable(int fd) {
    pollfd writable{fd, POLLOUT, 0};
    if (poll(&writable, 1, kReaderPauseMs) != 0) return;
    sigset_t unblocked, before;
    sigemptyset(&unblocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP})
        sigaddset(&unblocked, signal);
    sigprocmask(SIG_UNBLOCK, &unblocked, &before);
    while (poll(&writable, 1, -1) < 0 && errno == EINTR) continue;
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

// Writes all bytes. Blocks. Returns 0, or the errno of the write that failed. A pipe that is
// writable accepts PIPE_BUF bytes.
int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        wait_until_writable(fd);
        const ssize_t count =
            write(fd, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
        if (count >= 0) {
            bytes.remove_prefix(static_cast<size_t>(count));
        } else if (errno != EINTR && errno != EAGAIN) {
            return errno;
        }
    }
    return 0;
}

// Returns whether both descriptors refer to the same terminal, pipe or file.
bool is_same_file(int a, int b) {
    struct stat first {};
    struct stat second {};
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Sink::Sink(int file)
    : fd(file), terminal(isatty(file) == 1), colours(has_colours(file)) {}

void Sink::flush() {
    if (error == 0) error = write_all(fd, text);
    text.clear();
}

Output::Output(bool prefix)
    : prefix_(prefix),
      sinks_{Sink(STDOUT_FILENO), Sink(STDERR_FILENO)},
      same_(is_same_file(STDOUT_FILENO, STDERR_FILENO)) {}

void Output::add_rank(int rank, Source out, Source err) {
    streams_.push_back({.rank = rank, .output = 0, .source = std::move(out)});
    streams_.push_back({.rank = rank, .output = 1, .source = std::move(err)});
}

void Output::watch(std::vector<pollfd>& polled) const {
    for (const Stream& stream : streams_)
        if (stream.source.pipe.is_open())
            polled.push_back({stream.source.pipe.fd(), POLLIN, 0});
}

// Copies at most one buffer of each stream, so that a rank that writes much does not
// starve the others.
void Output::copy() {
    for (Stream& stream : streams_) read_once(stream);
    flush();
}

void Output::finish() {
    for (Stream& stream : streams_) {
        for (int i = 0; i < kLastReads && read_once(stream); ++i) flush();
        stream.source.pipe.close();
        if (!stream.line.empty()) put_line(stream, stream.line, false);
        stream.line.clear();
    }
    flush();
}

void Output::say(const std::string& message) {
    Sink& screen = sink(1);
    if (screen.line_open) screen.put("\n");
    screen.line_open = false;
    screen.put("minirun: " + message + "\n");
    flush();
}

std::vector<std::string> Output::tail(int local_rank) const {
    const Stream& err = streams_[static_cast<size_t>(2 * local_rank + 1)];
    if (err.rank == last_speaker_) return {};
    return {err.tail.begin(), err.tail.end()};
}

bool Output::live(const Stream& stream) {
    return stream.rank == 0 && sink(stream.output).terminal;
}

void Output::flush() {
    for (Sink& sink : sinks_) sink.flush();
    const int error = sinks_[0].error;
    if (error == 0 || error == EPIPE || is_lost_) return;
    is_lost_ = true;
    say(concat("a part of stdout is lost: ", system_message("write", error)));
}

// Reads at most one buffer; returns false if no more bytes are available now.
bool Output::read_once(Stream& stream) {
    Descriptor& pipe = stream.source.pipe;
    if (!pipe.is_open()) return false;
    std::array<char, 65536> buffer;
    const ssize_t count = read(pipe.fd(), buffer.data(), buffer.size());
    if (count > 0) {
        take(stream, {buffer.data(), static_cast<size_t>(count)});
        return true;
    }
    if (count < 0 && errno == EINTR) return true;
    if (count < 0 && errno == EAGAIN) return false;
    pipe.close();
    return false;
}

// Copies bytes to the rank's log. Closes the log if a write fails, e.g. because the disk
// is full.
void Output::log(Stream& stream, std::string_view bytes) {
    Descriptor& file = stream.source.log;
    const int error = file.is_open() ? write_all(file.fd(), bytes) : 0;
    if (error == 0) return;
    file.close();
    say(concat("the log of rank ", stream.rank,
               " is incomplete: ", system_message("write", error)));
}

// Takes bytes that a rank has written: copies the bytes to the rank's log, and shows them
// immediately if the stream is live(). Calls take_line() for each line that the bytes
// complete, in order and without the newline. `stream.line` keeps the bytes after the
// last newline for the next call. When `stream.line` reaches kMaxLineBytes, it is written
// as an incomplete line (put_line) and cleared.
void Output::take(Stream& stream, std::string_view bytes) {
    log(stream, bytes);

    // On a terminal, show rank 0's bytes immediately.
    if (live(stream)) {
        Sink& screen = sink(stream.output);
        screen.put(bytes);
        screen.line_open = bytes.back() != '\n';
    }

    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();
}

void Output::take_line(Stream& stream, std::string_view line) {
    put_line(stream, line, true);
    remember(stream, line);
}

// Puts one line of a rank to its sink; does nothing if the stream is live(). `line` has
// no newline; `complete` tells whether the rank wrote a newline after the line.
//     rank 0   the line unchanged; a newline only if the line is complete
//     others   prefix(), the visible() part of the line, always a newline
// Sets Sink::line_open to whether the last line of the sink lacks its newline. If
// line_open was set before, a line of another rank begins with a newline.
void Output::put_line(const Stream& stream, std::string_view line, bool complete) {
    if (live(stream)) return;
    Sink& screen = sink(stream.output);
    if (stream.rank == 0) {
        screen.put(line);
        if (complete) screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;
}

void Output::remember(Stream& stream, std::string_view line) {
    if (stream.output != 1) return;
    last_speaker_ = stream.rank;
    stream.tail.emplace_back(visible(line).substr(0, kMaxTailLineBytes));
    if (stream.tail.size() > kTailLines) stream.tail.pop_front();
}

std::string Output::prefix(int rank, const Sink& sink) const {
    if (!prefix_) return "";
    const std::string text = concat("[rank ", rank, "]");
    if (!sink.colours) return text + " ";
    return concat("\033[3", 1 + rank % 6, "m", text, "\033[0m ");  // red to cyan, by rank
}

}  // namespace mini::tools
