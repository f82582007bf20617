// Merges the output of all ranks on one screen.
//
//     rank 0  stdout, stderr   unchanged, byte for byte
//     rank 1  "loading\n"      [rank 1] loading
//
// A rank's output can be copied to log files, byte for byte, in addition to the screen or
// instead of it. Lines of different ranks are never mixed: only whole lines are written
// to a file or pipe. On a terminal, rank 0's bytes are shown immediately, so that a
// progress bar moves; if another rank writes a line while rank 0's line is unfinished, a
// newline is written first.
//
// Output never blocks on the reader of minirun's own output. While the reader does not
// read, Output does not read the pipes of the shown ranks: the pipes fill up, the ranks
// block, and no line is lost.
//
//     rank ---pipe---> Output ---pending---> reader that does not read
//     blocks  full     does not read; at most one buffer per rank is pending

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
    /// The number of last stderr lines that are kept for each rank.
    static constexpr size_t kTailLines = 20;

    /// `prefix`: whether lines of the ranks other than 0 begin with "[rank 1]".
    explicit Output(bool prefix);

    /// One output stream of a rank: the read end of its pipe, and its destinations.
    struct Source {
        Descriptor pipe;
        Descriptor log = {};  // the log file; closed if there is none
        bool shown = true;    // on the screen
    };

    /// Adds the stdout and stderr of `rank`. REQUIRES: ranks are added in the order of
    /// their local ranks.
    void add_rank(int rank, Source out, Source err);

    /// Appends the descriptors to poll for.
    void watch(std::vector<pollfd>& polled) const;

    /// Copies the available output of the ranks, as far as the reader accepts it. Does
    /// not block.
    void copy();

    /// Copies the remaining output, including unfinished lines. Does not block. Returns
    /// false if the reader has not accepted all output yet: call finish() again.
    /// REQUIRES: all ranks have ended.
    bool finish();

    /// Discards all output that has not been written.
    void drop();

    /// Writes "minirun: ", `message` and a newline to stderr, after the pending output.
    void say(const std::string& message);

    /// Returns whether minirun's own stderr is blocked, so that the ranks' stderr is not
    /// read.
    bool is_deaf() const { return held_up_[1]; }

    /// Returns the last stderr lines of local rank `local_rank`. Returns an empty vector
    /// if this rank wrote the last line that was shown: its lines are already at the end
    /// of the screen.
    std::vector<std::string> tail(int local_rank) const;

    /// Returns whether a part of stdout could not be written, as on a full disk. say() has
    /// said so.
    bool is_lost() const { return is_lost_; }

    /// Returns whether a stderr line of any rank was shown.
    bool anyone_spoke() const { return last_speaker_ >= 0; }

  private:
    // One pipe from a rank.
    struct Stream {
        int rank;
        int output;  // 0: stdout, 1: stderr
        Source source;
        std::string line = {};  // the unfinished last line
        std::deque<std::string> tail = {};
        int last_reads = 0;  // number of reads since all ranks have ended
    };

    Sink& sink(int output) { return sinks_[same_ ? 0 : output]; }
    const Sink& sink(int output) const { return sinks_[same_ ? 0 : output]; }
    bool live(const Stream& stream) const;
    bool is_held_up(const Stream& stream) const;
    void flush();
    bool read_once(Stream& stream);
    bool read_last(Stream& stream);
    void take(Stream& stream, std::string_view bytes);
    void take_line(Stream& stream, std::string_view line);
    void log(Stream& stream, std::string_view bytes);
    void put_line(const Stream& stream, std::string_view line, bool complete);
    void remember(Stream& stream, std::string_view line);
    std::string prefix(int rank, const Sink& sink) const;

    bool prefix_;
    int last_speaker_ = -1;  // the rank of the last stderr line that was shown
    Sink sinks_[2];          // minirun's own stdout and stderr
    bool same_;  // stdout and stderr are the same file: sinks_[0] is used for both
    bool is_lost_ = false;
    bool held_up_[2] = {false, false};  // stdout, stderr: blocked at the last flush
    std::vector<Stream> streams_;       // stdout, stderr of local rank 0, then of 1, ...
};

}  // namespace mini::tools
