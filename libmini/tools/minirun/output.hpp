// The output of all ranks on one screen.
//
//     rank 0  stdout, stderr   unchanged, byte for byte
//     rank 1  "loading\n"      [rank 1] loading
//
// Beside the screen, or instead of it, a rank's output goes into log files, byte for
// byte. Lines are never mixed: into a file or a pipe only whole lines go out. On a
// terminal rank 0 shows at once, so that a progress bar moves; when another rank speaks
// while rank 0's line is half drawn, that line is ended first.
//
// None of this waits for the reader of our own output. While the reader takes nothing,
// the pipes of the ranks that write to it are not read: they fill, the ranks wait, and no
// line is lost.
//
//     rank --pipe--> Output --pending--> reader that does not read
//      waits  full       does not read; a bufferful a rank is pending at most

#pragma once

#include <poll.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/tools/minirun/sink.hpp"

namespace mini::tools {

class Output {
  public:
    /// How many of a rank's last lines on stderr are kept.
    static constexpr size_t kTailLines = 20;

    explicit Output(bool prefix);

    /// One output of a rank: the pipe's reading end, and where to copy it.
    struct Source {
        Descriptor pipe;
        Descriptor log = {};  // a file, if any
        bool shown = true;
    };

    /// Takes over the outputs of `rank`. Ranks come in the order of their local ranks.
    void add_rank(int rank, Source out, Source err);

    /// Appends what to poll for.
    void watch(std::vector<pollfd>& polled) const;

    /// Copies what the ranks have written, as far as our own output takes it.
    void copy();

    /// Copies what is left and completes unfinished lines: all ranks have ended. False
    /// when our own output does not take it all: to be called again.
    bool finish();

    /// Gives up all that has not been written.
    void drop();

    /// Writes a line of minirun's own on stderr, behind what waits there.
    void say(const std::string& message);

    /// Whether the ranks' stderr goes unread, because our own does.
    bool is_deaf() const { return held_up_[1]; }

    /// The last lines that local rank `local_rank` wrote on stderr; none when no rank has
    /// written after it, so that they are in plain sight.
    std::vector<std::string> tail(int local_rank) const;

    /// Whether any rank has written a line on stderr.
    bool anyone_spoke() const { return last_speaker_ >= 0; }

  private:
    // One pipe from a rank.
    struct Stream {
        int rank;
        int output;  // 0 stdout, 1 stderr
        Source source;
        std::string line = {};  // read, but without its line end yet
        std::deque<std::string> tail = {};
        int last_reads = 0;  // since all ranks have ended
    };

    Sink& sink(int output) { return sinks_[same_ ? 0 : output]; }
    const Sink& sink(int output) const { return sinks_[same_ ? 0 : output]; }
    bool live(const Stream& stream) const;
    bool is_held_up(const Stream& stream) const;
    void flush();
    bool read_once(Stream& stream);
    bool read_last(Stream& stream);
    void take(Stream& stream, std::string_view bytes);
    void log(Stream& stream, std::string_view bytes);
    void put_line(const Stream& stream, std::string_view line, bool complete);
    void remember(Stream& stream, std::string_view line);
    std::string prefix(int rank, const Sink& sink) const;

    bool prefix_;
    bool colour_;
    int last_speaker_ = -1;  // the rank that wrote the last line on stderr
    Sink sinks_[2];          // minirun's own stdout and stderr
    bool same_;              // which are one file: then the first is used for both
    bool held_up_[2] = {false, false};  // stdout and stderr, when last flushed
    std::vector<Stream> streams_;  // stdout of the first rank, its stderr, stdout of...
};

}  // namespace mini::tools
