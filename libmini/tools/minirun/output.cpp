#include "libmini/tools/minirun/output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

constexpr size_t kLongestLine = 1 << 20;  // longer ones go out in pieces
constexpr size_t kLongestTailLine = 400;
constexpr int kLastReads = 16;  // a full pipe; a process that got away may write for ever

// What a terminal would still show of a line: the part behind the last carriage return.
std::string_view visible(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line.substr(line.rfind('\r') + 1);
}

}  // namespace

Output::Output(bool prefix)
    : prefix_(prefix),
      colour_(std::getenv("NO_COLOR") == nullptr),
      sinks_{{STDOUT_FILENO, isatty(STDOUT_FILENO) == 1, 0},
             {STDERR_FILENO, isatty(STDERR_FILENO) == 1, 1}} {
    if (sinks_[0].terminal && sinks_[1].terminal) sinks_[1].screen = 0;
}

void Output::add_rank(int rank, Source out, Source err) {
    streams_.push_back({.rank = rank, .sink = 0, .source = std::move(out)});
    streams_.push_back({.rank = rank, .sink = 1, .source = std::move(err)});
}

void Output::watch(std::vector<pollfd>& polled) const {
    for (const Stream& stream : streams_)
        if (stream.source.pipe.is_open())
            polled.push_back({stream.source.pipe.get(), POLLIN, 0});
}

void Output::copy() {
    for (Stream& stream : streams_) read_once(stream);
}

void Output::finish() {
    for (Stream& stream : streams_) {
        for (int i = 0; i < kLastReads && read_once(stream); ++i) continue;
        if (!stream.line.empty()) put_line(stream, stream.line, false);
        stream.line.clear();
    }
}

void Output::say(const std::string& message) {
    Sink& sink = sinks_[1];
    if (line_open_[sink.screen]) put(sink, "\n");
    line_open_[sink.screen] = false;
    put(sink, "minirun: " + message + "\n");
}

std::vector<std::string> Output::tail(int local_rank) const {
    const Stream& err = streams_[static_cast<size_t>(2 * local_rank + 1)];
    if (err.rank == last_speaker_) return {};
    return {err.tail.begin(), err.tail.end()};
}

bool Output::live(const Stream& stream) const {
    return stream.source.shown && stream.rank == 0 && sinks_[stream.sink].terminal;
}

// Takes one bufferful; false when there is no more for now.
bool Output::read_once(Stream& stream) {
    Descriptor& pipe = stream.source.pipe;
    if (!pipe.is_open()) return false;
    std::array<char, 65536> buffer;
    const ssize_t count = read(pipe.get(), buffer.data(), buffer.size());
    if (count > 0) {
        take(stream, {buffer.data(), static_cast<size_t>(count)});
        return true;
    }
    if (count < 0 && errno == EINTR) return true;
    if (count < 0 && errno == EAGAIN) return false;
    pipe.close();
    return false;
}

// Copies to the rank's log. One that cannot be written, say on a full disk, is given up.
void Output::log(Stream& stream, std::string_view bytes) {
    Descriptor& file = stream.source.log;
    while (file.is_open() && !bytes.empty()) {
        const ssize_t count = write(file.get(), bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<size_t>(count));
        } else if (errno != EINTR) {
            const int reason = errno;
            file.close();
            say(concat("the log of rank ", stream.rank,
                       " ends here: ", system_message("write", reason)));
        }
    }
}

void Output::take(Stream& stream, std::string_view bytes) {
    log(stream, bytes);

    // Show rank 0's bytes as they come, when somebody watches.
    const bool shown = live(stream);
    if (shown) {
        Sink& sink = sinks_[stream.sink];
        put(sink, bytes);
        line_open_[sink.screen] = bytes.back() != '\n';
    }

    // Cut the rest into lines.
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        const std::string_view line =
            std::string_view(stream.line).substr(start, end - start);
        if (!shown) put_line(stream, line, true);
        remember(stream, line);
        start = end + 1;
    }
    stream.line.erase(0, start);

    // Let go of a line that has no end in sight.
    if (stream.line.size() < kLongestLine) return;
    if (!shown) put_line(stream, stream.line, false);
    stream.line.clear();
}

// Writes one line of a rank that does not show live; rank 0's gets no end that it has
// not.
void Output::put_line(const Stream& stream, std::string_view line, bool complete) {
    if (live(stream) || !stream.source.shown) return;
    Sink& sink = sinks_[stream.sink];
    std::string text;
    if (stream.rank == 0) {
        text = std::string(line) + (complete ? "\n" : "");
    } else {
        text = line_open_[sink.screen] ? "\n" : "";
        text += prefix(stream.rank, sink) + std::string(visible(line)) + "\n";
    }
    put(sink, text);
    line_open_[sink.screen] = stream.rank == 0 && !complete;
}

// Writes all of it, waiting where our reader is slow, unless the reader has gone.
void Output::put(Sink& sink, std::string_view bytes) {
    while (!bytes.empty() && !sink.broken) {
        const ssize_t count = write(sink.fd, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<size_t>(count));
        } else if (errno == EAGAIN) {
            pollfd writable{sink.fd, POLLOUT, 0};
            poll(&writable, 1, -1);
        } else {
            sink.broken = errno != EINTR;
        }
    }
}

void Output::remember(Stream& stream, std::string_view line) {
    if (stream.sink != 1) return;
    if (stream.source.shown) last_speaker_ = stream.rank;
    stream.tail.emplace_back(visible(line).substr(0, kLongestTailLine));
    if (stream.tail.size() > kTailLines) stream.tail.pop_front();
}

std::string Output::prefix(int rank, const Sink& sink) const {
    if (!prefix_) return "";
    const std::string text = concat("[rank ", rank, "]");
    if (!sink.terminal || !colour_) return text + " ";
    return concat("\033[3", 1 + rank % 6, "m", text, "\033[0m ");  // red to cyan, by rank
}

}  // namespace mini::tools
