// A running minirun, for tests: its output, its signals, its end. Every wait has a
// deadline.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "tests/support/folder.hpp"

namespace mini::test {

enum class Screen { kPipes, kTerminal };
enum class Program { kMinirun, kItself };

class Job {
  public:
    /// Starts `minirun ARGS...`, or, with Program::kItself, the program args[0], its stdout
    /// and stderr in two pipes or on one new terminal (then err() stays empty).
    explicit Job(const std::vector<std::string>& args, Screen screen = Screen::kPipes,
                 Program program = Program::kMinirun);

    /// Kills minirun when it still runs.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Reads output until stdout or stderr holds `text`.
    void wait_for(const std::string& text);

    /// The process of minirun itself.
    pid_t pid() const { return pid_; }

    /// Reads stderr alone until it holds `text`.
    void wait_for_stderr(const std::string& text);

    /// Reads nothing until minirun's stdout, a pipe, can take no more.
    void wait_until_full() const;

    /// Signals minirun itself.
    void send(int signal);

    /// Reads all output and returns the exit code as a shell has it.
    int wait();

    /// Reads nothing more and returns the exit code as a shell has it.
    int wait_without_reading();

    const std::string& out() const { return text_[0]; }
    const std::string& err() const { return text_[1]; }

  private:
    bool read_some(std::vector<int> pipes = {0, 1});

    pid_t pid_ = -1;
    Descriptor pipe_[2];
    std::string text_[2];
};

/// `minirun -n ranks sh -c script`, run to its end.
struct Ended {
    int code;
    std::string out, err;
};
Ended run_script(int ranks, const std::string& script,
                 const std::vector<std::string>& options = {});

/// Any program, found as a shell would find it, run to its end.
Ended run_program(const std::vector<std::string>& command);

/// The words of one such command line.
std::vector<std::string> script_args(int ranks, const std::string& script,
                                     const std::vector<std::string>& options = {});

/// The lines of `text`.
std::vector<std::string> lines(const std::string& text);

/// The number behind the first `name` ("pid 1 ") in `text`.
pid_t number_after(const std::string& text, const std::string& name);

/// The processes that `pid` has started and not yet reaped.
std::vector<pid_t> children_of(pid_t pid);

/// Those of minirun's children that have become programs: its ranks.
std::vector<pid_t> ranks_of(pid_t minirun);

/// A port of loopback, kept for this test until its program ends.
int free_port();

/// Makes this process the parent of orphans, so that it can see how they end.
void adopt_orphans();

/// Waits for an adopted process and returns its exit code as a shell has it.
int wait_for_orphan(pid_t pid);

/// Waits until there is no such process any more.
void wait_until_gone(pid_t pid);

/// Waits until this process has no child left, adopted ones included.
void wait_for_all_orphans();

}  // namespace mini::test
