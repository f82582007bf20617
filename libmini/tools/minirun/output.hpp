// Merges the output of all ranks on one screen.
//
//     rank 0  stdout, stderr   unchanged, byte for byte
//     rank 1  "loading\n"      [rank 1] loading
//
// A rank's output can also be copied to log files, byte for byte. Lines of different
// ranks are never mixed: only whole lines are written to a file or pipe. On a terminal,
// rank 0's bytes are shown immediately, so that a progress bar moves; if another rank
// writes a line while rank 0's line is unfinished, a newline is written first.
//
// A write blocks while the reader of minirun's own output does not read: the pipes of the
// ranks fill up, the ranks block, and no line is lost. After a second, a signal that ends a
// program ends minirun at once, and Ctrl-Z stops it.

#pragma once

#include <poll.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "libmini/core/descriptor.hpp"

namespace mini::tools {

/// minirun's own stdout or stderr.
struct Sink {
    explicit Sink(int file);

    /// Appends to the text that the next flush() writes.
    void put(std::string_view bytes) { text += bytes; }

    /// Writes the text, and blocks until the reader has accepted it. After a write has
    /// failed, discards all text; if the reader has closed its end, the write raises
    /// SIGPIPE.
    void flush();

    int fd;
    bool terminal, colours;
    bool line_open = false;  // whether the last line lacks its newline
    std::string text;
    int error = 0;  // errno of the first write that failed
};

class Output {
  public:
    /// The number of last stderr lines that are kept for each rank.
    static constexpr size_t kTailLines = 20;

    /// `prefix`: whether lines of the ranks other than 0 begin with "[rank 1]".
    explicit Output(bool prefix);

    /// One output stream of a rank: the read end of its pipe, and its log file.
    struct Source {
        Descriptor pipe;
        Descriptor log = {};  // closed if there is none
    };

    /// Adds the stdout and stderr of `rank`. REQUIRES: ranks are added in the order of
    /// their local ranks.
    void add_rank(int rank, Source out, Source err);

    /// Appends the descriptors to poll for.
    void watch(std::vector<pollfd>& polled) const;

    /// Copies the available output of the ranks.
    void copy();

    /// Copies the remaining output, including unfinished lines. REQUIRES: all ranks have
    /// ended.
    void finish();

    /// Writes "minirun: ", `message` and a newline to stderr.
    void say(const std::string& message);

    /// Returns the last stderr lines of local rank `local_rank`. Returns an empty vector
    /// if this rank wrote the last line: its lines are already at the end of the screen.
    std::vector<std::string> tail(int local_rank) const;

    /// Returns whether a part of stdout could not be written, as on a full disk. say() has
    /// said so.
    bool is_lost() const { return is_lost_; }

    /// Returns whether any rank has written a line to stderr.
    bool anyone_spoke() const { return last_speaker_ >= 0; }

  private:
    // One pipe from a rank.
    struct Stream {
        int rank;
        int output;  // 0: stdout, 1: stderr
        Source source;
        std::string line = {};  // the unfinished last line
        std::deque<std::string> tail = {};
    };

    Sink& sink(int output) { return sinks_[same_ ? 0 : output]; }
    bool live(const Stream& stream);
    void flush();
    bool read_once(Stream& stream);
    void take(Stream& stream, std::string_view bytes);
    void take_line(Stream& stream, std::string_view line);
    void log(Stream& stream, std::string_view bytes);
    void put_line(const Stream& stream, std::string_view line, bool complete);
    void remember(Stream& stream, std::string_view line);
    std::string prefix(int rank, const Sink& sink) const;

    bool prefix_;
    int last_speaker_ = -1;  // the rank of the last stderr line
    Sink sinks_[2];          // minirun's own stdout and stderr
    bool same_;  // stdout and stderr are the same file: sinks_[0] is used for both
    bool is_lost_ = false;
    std::vector<Stream> streams_;  // stdout, stderr of local rank 0, then of 1, ...
};

}  // namespace mini::tools
