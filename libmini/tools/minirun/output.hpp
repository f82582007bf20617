// The output of all ranks on one screen.
//
//     rank 0  stdout, stderr   unchanged, byte for byte
//     rank 1  "loading\n"      [rank 1] loading
//
// Beside the screen, or instead of it, a rank's output goes into log files, byte for
// byte. Lines are never mixed: into a file or a pipe only whole lines go out. On a terminal
// rank 0 shows at once, so that a progress bar moves; when another rank speaks while rank
// 0's line is half drawn, that line is ended first.

#pragma once

#include <poll.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "libmini/tools/minirun/descriptor.hpp"

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

    /// Copies what the ranks have written so far. Blocks only while our own output does.
    void copy();

    /// Copies what is left and completes unfinished lines: all ranks have ended.
    void finish();

    /// Writes a line of minirun's own on stderr.
    void say(const std::string& message);

    /// The last lines that local rank `local_rank` wrote on stderr; none when nobody has
    /// written after it, so that they are in plain sight.
    std::vector<std::string> tail(int local_rank) const;

    /// Whether any rank has written a line on stderr.
    bool anyone_spoke() const { return last_speaker_ >= 0; }

  private:
    // One of minirun's own two outputs.
    struct Sink {
        int fd;
        bool terminal;
        int screen;           // which of line_open_ it uses: a terminal shows both sinks
        bool broken = false;  // nobody reads it any more
    };

    // One pipe from a rank.
    struct Stream {
        int rank;
        int sink;
        Source source;
        std::string line = {};  // read, but without its line end yet
        std::deque<std::string> tail = {};
    };

    bool live(const Stream& stream) const;
    bool read_once(Stream& stream);
    void take(Stream& stream, std::string_view bytes);
    void log(Stream& stream, std::string_view bytes);
    void put_line(const Stream& stream, std::string_view line, bool complete);
    void put(Sink& sink, std::string_view bytes);
    void remember(Stream& stream, std::string_view line);
    std::string prefix(int rank, const Sink& sink) const;

    bool prefix_;
    bool colour_;
    int last_speaker_ = -1;  // the rank that wrote the last line on stderr
    Sink sinks_[2];
    bool line_open_[2] = {false, false};  // a line of rank 0 without its end, by screen
    std::vector<Stream> streams_;  // stdout of the first rank, its stderr, stdout of...
};

}  // namespace mini::tools
