// Runs minirun for tests: reads its output, sends signals, waits for its end. A wait
// throws std::runtime_error after 30 seconds without progress.

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
    /// Starts `minirun ARGS...`, or, with Program::kItself, the command `args`. The
    /// program's stdout and stderr are two pipes, or one new terminal (then err() stays
    /// empty).
    explicit Job(const std::vector<std::string>& args, Screen screen = Screen::kPipes,
                 Program program = Program::kMinirun);

    /// Kills minirun if it is still running.
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    /// Reads output until stdout or stderr contains `text`. Throws std::runtime_error if
    /// the output ends before.
    void wait_for(const std::string& text);

    /// Returns the pid of minirun itself.
    pid_t pid() const { return pid_; }

    /// Waits, without reading, until minirun's stdout (a pipe) is full.
    void wait_until_full() const;

    /// Sends the signal to minirun itself.
    void send(int signal);

    /// Reads all output, waits for the end, and returns the exit code as a shell reports
    /// it.
    int wait();

    /// Waits for the end without reading, and returns the exit code as a shell reports
    /// it.
    int wait_without_reading();

    const std::string& out() const { return text_[0]; }
    const std::string& err() const { return text_[1]; }

  private:
    bool read_some();

    pid_t pid_ = -1;
    Descriptor pipe_[2];
    std::string text_[2];
};

/// The result of a finished program.
struct ProcessResult {
    int code;
    std::string out, err;
};
/// Runs `minirun -n ranks sh -c script` to its end.
ProcessResult run_script(int ranks, const std::string& script,
                         const std::vector<std::string>& options = {});

/// Runs any program, found in PATH, to its end.
ProcessResult run_program(const std::vector<std::string>& command);

/// Runs a command of the shell to its end; PATH has the built programs.
ProcessResult run_in_shell(const std::string& command);

/// Returns the arguments with which run_script() starts minirun.
std::vector<std::string> script_args(int ranks, const std::string& script,
                                     const std::vector<std::string>& options = {});

/// Splits `text` into lines.
std::vector<std::string> lines(const std::string& text);

/// Returns the number after the first `name` ("pid 1 ") in `text`.
pid_t number_after(const std::string& text, const std::string& name);

/// Returns the child processes of `pid`, including ended children that are not reaped.
std::vector<pid_t> children_of(pid_t pid);

/// Returns the children of minirun that have executed a program: its ranks.
std::vector<pid_t> ranks_of(pid_t minirun);

/// Returns a free loopback port, which stays reserved until this process ends.
int free_port();

/// Makes this process the parent of orphaned descendants, so that it can wait for them.
void adopt_orphans();

/// Waits until a signal has stopped the process, or until it is not stopped any more.
void wait_until_stopped(pid_t pid);
void wait_until_continued(pid_t pid);

/// Waits until the process does not block the signal.
void wait_until_unblocked(pid_t pid, int signal);

/// Waits until this process has no child processes, including adopted processes.
void wait_for_all_orphans();

}  // namespace mini::test
