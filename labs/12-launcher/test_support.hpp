// Helpers for the checks of lab 12: the output on the screen, and shell scripts as ranks.

#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/tools/minirun/cleaner.hpp"
#include "libmini/tools/minirun/launcher.hpp"
#include "libmini/tools/minirun/options.hpp"
#include "libmini/tools/minirun/supervisor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"

namespace mini::lab12 {

using test::contains;
using test::Folder;

/// A pipe; both ends are non-blocking and closed by exec.
struct Pipe {
    Descriptor read, write;
};
inline Pipe new_pipe() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Redirects this process's stdout and stderr to two files in memory for its lifetime.
class Screen {
  public:
    Screen() : saved_{Descriptor(copy_of(1)), Descriptor(copy_of(2))} {
        for (const int fd : {1, 2}) {
            file(fd) = Descriptor(memfd_create("screen", MFD_CLOEXEC));
            dup2(file(fd).fd(), fd);
        }
    }
    ~Screen() {
        for (const int fd : {1, 2}) dup2(saved_[static_cast<size_t>(fd - 1)].fd(), fd);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    std::string out() const { return text(files_[0]); }
    std::string err() const { return text(files_[1]); }

  private:
    static int copy_of(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); }
    Descriptor& file(int fd) { return files_[static_cast<size_t>(fd - 1)]; }
    static std::string text(const Descriptor& file) {
        struct stat status {};
        fstat(file.fd(), &status);
        std::string all(static_cast<size_t>(status.st_size), '\0');
        all.resize(static_cast<size_t>(pread(file.fd(), all.data(), all.size(), 0)));
        return all;
    }

    std::array<Descriptor, 2> saved_;
    std::array<Descriptor, 2> files_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// A folder with named pipes. Writing to a pipe blocks until another process reads from
/// it, so scripts take their steps in a fixed order: `echo > ready` and `read x < ready`.
class Signals {
  public:
    explicit Signals(const std::vector<std::string>& names) {
        for (const std::string& name : names)
            REQUIRE(mkfifo((folder_ / name).c_str(), 0600) == 0);
    }

    /// Returns a command that waits until another process receives `name`.
    std::string give(const std::string& name) const {
        return "echo > " + (folder_ / name) + "; ";
    }
    /// Returns a command that waits until another process gives `name`.
    std::string receive(const std::string& name) const {
        return "read x < " + (folder_ / name) + "; ";
    }
    std::string path(const std::string& name) const { return folder_ / name; }

  private:
    Folder folder_;
};

/// The result of a job.
struct Run {
    tools::Outcome outcome;
    std::string out, err;
};

constexpr std::chrono::seconds kLong(1000);  // a grace time that never ends in a check

/// Runs `script` as each rank, under a supervisor in this process; blocks until the job
/// has ended, and returns its result.
inline Run supervise(tools::Options options, const std::string& script) {
    // Handle these signals by default: a shell may have started this process, as a
    // background job, with some of them ignored.
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(each, SIG_DFL);
    options.command = {"sh", "-c", script};
    dist::Job job = tools::plan_job(options);
    job.flight_dir = options.flight_dir;
    Run run;
    const Screen screen;
    {
        const tools::Cleaner cleaner("");
        tools::Supervisor supervisor(options, job, cleaner);
        run.outcome = supervisor.run();
    }
    run.out = screen.out();
    run.err = screen.err();
    return run;
}

}  // namespace mini::lab12
