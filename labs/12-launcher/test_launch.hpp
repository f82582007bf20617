// Helpers for the checks of lab 12, tasks 12.1 to 12.3: simple::launch under a watchdog, with
// shell scripts as ranks.

#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "labs/12-launcher/simple_launcher.hpp"
#include "labs/12-launcher/test_support.hpp"

namespace mini::lab12 {

using simple::End;

using Lines = std::vector<std::string>;

/// The lines of each rank that showed or wrote a line.
struct LinesOfRanks {
    std::map<int, Lines> lines;

    const Lines& at(int rank) const {
        const auto found = lines.find(rank);
        if (found == lines.end()) FAIL("rank " << rank << " showed no line");
        return found->second;
    }
};

/// What a job did: the lines of each rank, and its result.
struct Launched {
    LinesOfRanks lines;
    std::optional<End> first;
};

/// Sets a variable of this process for its lifetime.
struct Variable {
    Variable(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

/// A process that launch has started, or that such a process has started.
struct Process {
    pid_t pid;
    std::string in_words;  // "rank 1's sleep runs"
};

constexpr const char* kMark = "LAB12_LAUNCH";  // in the environment of such a process

/// Returns the part of `text` from the end of `key` to the next `stop`; "" without the key.
inline std::string value_of(const std::string& text, const std::string& key, char stop) {
    const size_t at = text.find(key);
    if (at == std::string::npos) return "";
    const size_t begin = at + key.size();
    return text.substr(begin, text.find(stop, begin) - begin);
}

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Returns the children of this process, and the processes with its mark.
inline std::vector<Process> processes() {
    const std::string own = std::to_string(getpid());
    std::vector<Process> found;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/proc", ignored)) {
        const pid_t pid = std::atoi(each.path().filename().c_str());
        if (pid <= 0 || pid == getpid()) continue;
        const std::string status = text_of(each.path() / "status");
        const std::string variables = '\0' + text_of(each.path() / "environ");
        const bool is_marked = value_of(variables, concat('\0', kMark, "="), '\0') == own;
        if (value_of(status, "PPid:\t", '\n') != own && !is_marked) continue;
        const std::string rank = value_of(variables, concat('\0', "RANK="), '\0');
        const bool is_zombie = value_of(status, "State:\t", ' ') == "Z";
        const std::string blocked = value_of(status, "SigBlk:\t", '\n');
        const bool blocks_term =
            (std::strtoull(blocked.c_str(), nullptr, 16) >> (SIGTERM - 1)) % 2 == 1;
        found.push_back(
            {pid, concat(rank.empty() ? "" : "rank " + rank + "'s ",
                         value_of(status, "Name:\t", '\n'),
                         is_zombie     ? " has ended, and was not reaped"
                         : blocks_term ? " runs with SIGTERM blocked (see 12.1)"
                                       : " runs")});
    }
    return found;
}

/// Kills all processes of a launch that has not returned after 30 s, so that the case can say
/// what launch waited for. Its thread takes no signal, as the launcher may wait for SIGCHLD.
class Watchdog {
  public:
    Watchdog() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread([this] { watch(); });
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    ~Watchdog() { stop(); }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // Returns what was killed; "" if launch returned in time.
    std::string stop() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        over_.notify_one();
        if (thread_.joinable()) thread_.join();
        return killed_;
    }

  private:
    void watch() {
        std::unique_lock lock(mutex_);
        if (over_.wait_for(lock, std::chrono::seconds(30), [this] { return is_over_; }))
            return;
        const std::vector<Process> left = processes();
        killed_ = left.empty() ? "no process" : "";
        for (const Process& each : left) {
            killed_ += (killed_.empty() ? "" : ", ") + each.in_words;
            kill(each.pid, SIGKILL);
        }
    }

    std::mutex mutex_;
    std::condition_variable over_;
    bool is_over_ = false;
    std::string killed_;
    std::thread thread_;
};

/// Calls simple::launch under a watchdog.
inline std::optional<End> launch(const simple::Options& options,
                                 const simple::Show& show) {
    const Variable mark(kMark, std::to_string(getpid()));
    Watchdog watchdog;
    std::optional<End> first;
    std::exception_ptr error;
    try {
        first = simple::launch(options, show);
    } catch (...) {
        error = std::current_exception();
    }
    const std::string killed = watchdog.stop();
    if (!killed.empty())
        FAIL("launch did not return within 30 s; these were left: " << killed);
    if (error) std::rethrow_exception(error);
    return first;
}

/// Runs a script as each rank. `on_line` is called for each line that is shown.
inline Launched launched(int ranks, const std::string& script,
                         std::chrono::milliseconds grace = kLong,
                         const simple::Show& on_line = {}) {
    Launched run;
    run.first = launch({.ranks = ranks, .command = {"sh", "-c", script}, .grace = grace},
                       [&](int rank, const std::string& line) {
                           run.lines.lines[rank].push_back(line);
                           if (on_line) on_line(rank, line);
                       });
    return run;
}

inline size_t open_files() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& each :
         std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

inline bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1; }

}  // namespace mini::lab12
