#include "libmini/distributed/launch/spawn.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/poll_until.hpp"
#include "libmini/distributed/net/root_cause.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/tensor/device.hpp"

namespace mini::dist {
namespace {

// The maximum size of the error message that a failed rank sends to its parent, after the
// rank that it blames. One write to the pipe takes both.
constexpr size_t kMaxReportBytes = 4000;

// The parent's data of one rank.
struct Child {
    int rank = -1;
    pid_t process = -1;
    Socket ended;   // a pidfd: readable when the process has ended
    Socket report;  // the pipe's reading end
    bool running = true;
};

int count_threads() {
    int count = 0;
    DIR* folder = ::opendir("/proc/self/task");
    MINI_CHECK(folder != nullptr, system_message("opendir(/proc/self/task)", errno));
    while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.';
    ::closedir(folder);
    return count;
}

void check_no_other_threads() {
    const int others = count_threads() - 1;
    if (others == 0) return;
    throw UsageError(concat(
        "spawn: this process has ", others, " other thread", others == 1 ? "" : "s",
        "; a forked rank would lack them, and the locks they hold would stay locked; "
        "call spawn before anything starts threads (parallel_for with set_num_threads "
        "above 1, a process group, a data loader with workers), or use minirun or "
        "run_threads"));
}

void check_no_cuda() {
    if (!cuda_is_initialized()) return;
    throw UsageError(
        "spawn: this process has used CUDA, and CUDA does not work in a forked child; "
        "use devices only within the ranks, or use minirun or run_threads");
}

// ---- shared by all ranks

struct Job {
    int world_size;
    int port;
    std::string cookie;
    pid_t parent;
    sigset_t signals;  // the signals that the parent had blocked
};

void set_variables(const Job& job, int rank) {
    const std::string own = std::to_string(rank), world = std::to_string(job.world_size);
    const std::array<std::pair<const char*, std::string>, 14> variables = {{
        {"RANK", own},
        {"LOCAL_RANK", own},
        {"ROLE_RANK", own},
        {"WORLD_SIZE", world},
        {"LOCAL_WORLD_SIZE", world},
        {"ROLE_WORLD_SIZE", world},
        {"GROUP_RANK", "0"},
        {"GROUP_WORLD_SIZE", "1"},
        {"MASTER_ADDR", "127.0.0.1"},
        {"MASTER_PORT", std::to_string(job.port)},
        {"MINI_STORE_COOKIE", job.cookie},
        {"TORCHELASTIC_RUN_ID", job.cookie.substr(0, 8)},
        {"TORCHELASTIC_RESTART_COUNT", "0"},
        {"TORCHELASTIC_USE_AGENT_STORE", "False"},
    }};
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
}

// ---- a rank's side

void send_report(int pipe, const Failure& failure) {
    const int blamed = failure.kind == Failure::Kind::kPeerLost ? failure.rank : -1;
    std::string text(reinterpret_cast<const char*>(&blamed), sizeof blamed);
    text += failure.message.substr(0, kMaxReportBytes);
    if (::write(pipe, text.data(), text.size()) < 0) ::_exit(2);
}

[[noreturn]] void run_child(const std::function<void(int rank)>& fn, int rank,
                            const Job& job, int pipe) {
    // End when the parent ends, even if the parent has ended before this line, and on
    // SIGTERM from the parent.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != job.parent) ::_exit(1);
    ::signal(SIGTERM, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &job.signals, nullptr);

    set_variables(job, rank);
    logging::set_rank(rank);
    int code = 0;
    try {
        fn(rank);
    } catch (...) {
        send_report(pipe, current_failure());
        code = 1;
    }

    // Flush the output. Do not run the exit handlers, which belong to the parent.
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);
}

// ---- the parent's side

Child start_rank(const std::function<void(int rank)>& fn, int rank, const Job& job) {
    int ends[2];
    MINI_CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, system_message("pipe", errno));
    Child child;
    child.rank = rank;
    child.report = Socket(ends[0]);
    const Socket write_end(ends[1]);
    child.process = ::fork();
    MINI_CHECK(child.process >= 0, system_message("fork", errno),
               "; raise ulimit -u, or start fewer ranks");
    if (child.process == 0) run_child(fn, rank, job, write_end.fd());
    child.ended = Socket(static_cast<int>(::syscall(SYS_pidfd_open, child.process, 0)));
    if (child.ended.is_open()) return child;

    const int reason = errno;
    ::kill(child.process, SIGKILL);
    ::waitpid(child.process, nullptr, 0);
    throw Error(concat(system_message("pidfd_open", reason), "; spawn needs Linux 5.3"));
}

// Reaps a process that has ended. Sets `message` to the error message if the process
// failed.
RankEnd reap(Child& child, std::string& message) {
    int status = 0;
    while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) continue;
    child.running = false;
    RankEnd end{.rank = child.rank};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
    end.failed = true;
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);

    std::array<char, sizeof end.blamed + kMaxReportBytes> report{};
    const ssize_t n = ::read(child.report.fd(), report.data(), report.size());
    const std::string who = concat("rank ", child.rank);
    if (n > 0) {
        std::memcpy(&end.blamed, report.data(), sizeof end.blamed);
        if (end.blamed == child.rank) end.blamed = -1;
        message = concat(who, " failed: ",
                         std::string(report.data() + sizeof end.blamed,
                                     static_cast<size_t>(n) - sizeof end.blamed));
    } else if (end.signal != 0) {
        const char* name = ::sigabbrev_np(end.signal);
        message = concat(who, " (process ", child.process, ") was ended by ",
                         name == nullptr ? "a signal" : concat("SIG", name));
    } else {
        message = concat(who, " (process ", child.process, ") ended with code ",
                         WEXITSTATUS(status));
    }
    return end;
}

// Blocks SIGTERM during its lifetime: a rank that gets SIGTERM before it has removed the
// parent's signal handlers would run these handlers.
class BlockedSigterm {
  public:
    BlockedSigterm() {
        sigset_t term;
        ::sigemptyset(&term);
        ::sigaddset(&term, SIGTERM);
        ::sigprocmask(SIG_BLOCK, &term, &before_);
    }
    ~BlockedSigterm() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSigterm(const BlockedSigterm&) = delete;
    BlockedSigterm& operator=(const BlockedSigterm&) = delete;

    const sigset_t& before() const { return before_; }

  private:
    sigset_t before_;
};

// The processes of all ranks. The destructor kills the processes that still run.
class ChildProcesses {
  public:
    ChildProcesses(const std::function<void(int rank)>& fn, Job job) {
        const BlockedSigterm blocked;
        job.signals = blocked.before();
        try {
            for (int rank = 0; rank < job.world_size; ++rank)
                children_.push_back(start_rank(fn, rank, job));
        } catch (const Error&) {
            end_all(std::chrono::milliseconds(0));
            throw;
        }
    }
    ~ChildProcesses() { end_all(std::chrono::milliseconds(0)); }
    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    // Blocks until all ranks have ended or the rank that caused a failure is known. After
    // a failure, ends the other ranks and throws RankFailed for the rank that caused it.
    void wait(std::chrono::milliseconds grace) {
        Deadline deadline = kNever;
        while (any_running() && wait_for_one(deadline)) {
            reap_ended();
            const auto cause = root_cause(ends_, ends_.size());
            if (cause && ends_[*cause].blamed < 0) break;
            if (cause) deadline = std::min(deadline, deadline_after(kBlamedTime));
        }
        const auto cause = root_cause(ends_, ends_.size());
        if (!cause) return;
        end_all(grace);
        throw RankFailed(ends_[*cause].rank, messages_[*cause]);
    }

    // Sends SIGTERM to all ranks, and SIGKILL to the ranks that still run after `grace`;
    // blocks until all have ended.
    void end_all(std::chrono::milliseconds grace) {
        signal_all(SIGTERM);
        const Deadline deadline = deadline_after(grace);
        while (any_running() && wait_for_one(deadline)) reap_ended();
        signal_all(SIGKILL);
        while (any_running()) {
            wait_for_one(kNever);
            reap_ended();
        }
    }

  private:
    bool any_running() const {
        for (const Child& child : children_)
            if (child.running) return true;
        return false;
    }

    void signal_all(int signal) {
        for (const Child& child : children_)
            if (child.running) ::kill(child.process, signal);
    }

    // Blocks until a running rank has ended; returns false if the deadline passes first.
    bool wait_for_one(Deadline deadline) {
        std::vector<pollfd> entries;
        for (const Child& child : children_)
            if (child.running) entries.push_back({child.ended.fd(), POLLIN, 0});
        while (true) {
            if (poll_until(entries, deadline) > 0) return true;
            if (has_passed(deadline)) return false;
        }
    }

    void reap_ended() {
        for (Child& child : children_) {
            if (!child.running || !wait_for(child.ended, POLLIN, Clock::now())) continue;
            ends_.push_back(reap(child, messages_.emplace_back()));
        }
    }

    std::vector<Child> children_;
    std::vector<RankEnd> ends_;          // in the order in which the ranks ended
    std::vector<std::string> messages_;  // by index in `ends_`; "" on success
};

}  // namespace

void spawn(const std::function<void(int rank)>& fn, int world_size,
           SpawnOptions options) {
    if (world_size < 1)
        throw UsageError(
            concat("spawn: world_size is ", world_size, "; it must be 1 or more"));
    check_no_cuda();
    check_no_other_threads();

    // Flush the output: otherwise every rank would also print the text in the buffers.
    std::cout.flush();
    std::fflush(nullptr);

    const Socket port =
        reserve_port({"127.0.0.1", 0});  // reserved until all ranks have ended
    ChildProcesses children(
        fn, {world_size, local_address(port).port, random_hex(32), ::getpid(), {}});
    children.wait(options.grace);
}

}  // namespace mini::dist
