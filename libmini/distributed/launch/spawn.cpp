#include "libmini/distributed/launch/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include "libmini/core/log.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/failure.hpp"
#include "libmini/distributed/net/root_cause.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/distributed/rendezvous/rank_environment.hpp"
#include "libmini/kernels/gpu.hpp"

namespace mini::dist {
namespace {

constexpr std::chrono::milliseconds kBlamedTime(3000);  // for a blamed rank to end

struct Child {
    int rank = -1;
    pid_t process = -1;
    Socket report = {};  // a pipe's reading end: hangs up when the process has ended
};

// A forked rank lacks the other threads, and what CUDA keeps of this process.
void check_can_fork() {
    if (cuda::is_initialized())
        throw UsageError(
            "spawn: this process has used CUDA, and CUDA does not work in a forked "
            "child; use devices only within the ranks, or use minirun or run_threads");
    const std::filesystem::directory_iterator threads("/proc/self/task");
    const auto others = std::distance(begin(threads), end(threads)) - 1;
    if (others == 0) return;
    throw UsageError(
        "spawn: this process has ", others,
        " other thread(s), which a forked rank would lack, while the locks they hold "
        "stay locked; call spawn before anything starts threads (parallel_for with "
        "set_num_threads above 1, a process group, a data loader with workers), or use "
        "minirun or run_threads");
}

// The rank's side. `signals`: the signals that the parent had blocked before the fork.
[[noreturn]] void run_rank(const std::function<void(int rank)>& fn, int rank,
                           const Job& job, pid_t parent, const sigset_t& signals,
                           int pipe) {
    // End when the parent ends, even if the parent has ended before this line, and on
    // SIGTERM from the parent.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::signal(SIGTERM, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &signals, nullptr);

    for (const auto& [name, value] : own_variables(job, rank))
        ::setenv(name.c_str(), value.c_str(), 1);
    logging::set_rank(rank);
    int code = 0;
    try {
        fn(rank);
    } catch (...) {
        const std::string report = to_text(current_failure());
        code = ::write(pipe, report.data(), report.size()) < 0 ? 2 : 1;
    }

    // Flush the output. Do not run the exit handlers, which belong to the parent.
    std::cout.flush();
    std::fflush(nullptr);
    ::_exit(code);
}

Child fork_rank(const std::function<void(int rank)>& fn, int rank, const Job& job) {
    int ends[2];
    MINI_CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, system_message("pipe", errno));
    Child child{.rank = rank, .report = Socket(ends[0])};
    const Socket write_end(ends[1]);

    // Block SIGTERM, because a rank that gets it before it has removed the parent's
    // signal handlers would run these handlers.
    sigset_t term, before;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, &before);
    const pid_t parent = ::getpid();
    child.process = ::fork();
    const int reason = errno;
    if (child.process == 0) run_rank(fn, rank, job, parent, before, write_end.fd());
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    MINI_CHECK(child.process > 0, system_message("fork", reason),
               "; raise ulimit -u, or start fewer ranks");
    return child;
}

// Reaps a process that has ended. Sets `message` to the error message if the process
// failed.
RankEnd reap(const Child& child, std::string& message) {
    int status = 0;
    while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) continue;
    RankEnd end{.rank = child.rank,
                .failed = status != 0,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    std::string report(kMaxFailureBytes + 20, '\0');
    const ssize_t size = ::read(child.report.fd(), report.data(), report.size());
    if (size > 0) {
        report.resize(static_cast<size_t>(size));
        const Failure failure = parse_failure(report);
        if (failure.rank != child.rank) end.blamed = failure.rank;
        message = concat("rank ", child.rank, " failed: ", failure.message);
    } else if (end.failed) {
        const char* name = ::sigabbrev_np(end.signal);
        message = concat("rank ", child.rank, " (process ", child.process, ") ",
                         end.signal == 0 ? concat("ended with code ", WEXITSTATUS(status))
                         : name          ? concat("was ended by SIG", name)
                                         : "was ended by a signal");
    }
    return end;
}

// The processes of all ranks. The destructor kills the processes that still run.
class ChildProcesses {
  public:
    ChildProcesses() = default;
    ~ChildProcesses() { end_all(std::chrono::milliseconds(0)); }
    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    void add(Child child) { running_.push_back(std::move(child)); }

    // Blocks until all ranks have ended or the rank that caused a failure is known. After
    // a failure, ends the other ranks and throws RankFailed for the rank that caused it.
    void wait(std::chrono::milliseconds grace) {
        Deadline deadline = kNever;
        while (!running_.empty() && reap_until(deadline)) {
            const auto cause = root_cause(ends_, ends_.size());
            if (cause && ends_[*cause].blamed < 0) break;
            if (cause) deadline = std::min(deadline, deadline_after(kBlamedTime));
        }
        const auto cause = root_cause(ends_, ends_.size());
        if (!cause) return;
        const RankEnd end = ends_[*cause];
        const bool waited = std::ranges::count(running_, end.blamed, &Child::rank) > 0;
        const bool returned = std::ranges::any_of(ends_, [&](const RankEnd& other) {
            return other.rank == end.blamed && !other.failed;
        });
        end_all(grace);
        std::string message = messages_[*cause];
        if (returned) message = concat("rank ", end.blamed, " returned early: ", message);
        throw RankFailed(waited || returned ? end.blamed : end.rank, message);
    }

  private:
    // Sends SIGTERM to all ranks, and SIGKILL to the ranks that still run after `grace`;
    // blocks until all have ended.
    void end_all(std::chrono::milliseconds grace) {
        signal_all(SIGTERM);
        const Deadline deadline = deadline_after(grace);
        while (!running_.empty() && reap_until(deadline)) continue;
        signal_all(SIGKILL);
        while (!running_.empty()) reap_until(kNever);
    }

    void signal_all(int signal) {
        for (const Child& child : running_) ::kill(child.process, signal);
    }

    // Blocks until a rank has ended, and reaps all that have; returns false if the
    // deadline passes first.
    bool reap_until(Deadline deadline) {
        std::vector<pollfd> entries;
        for (const Child& child : running_) entries.push_back({child.report.fd(), 0, 0});
        while (poll_until(entries, deadline) <= 0)
            if (has_passed(deadline)) return false;
        std::vector<Child> running;
        for (size_t i = 0; i < entries.size(); ++i)
            if (entries[i].revents == 0)
                running.push_back(std::move(running_[i]));
            else
                ends_.push_back(reap(running_[i], messages_.emplace_back()));
        running_ = std::move(running);
        return true;
    }

    std::vector<Child> running_;
    std::vector<RankEnd> ends_;          // in the order in which the ranks ended
    std::vector<std::string> messages_;  // by index in `ends_`; "" on success
};

}  // namespace

void spawn(const std::function<void(int rank)>& fn, int world_size,
           SpawnOptions options) {
    if (world_size < 1)
        throw UsageError("spawn: world_size is ", world_size, "; it must be 1 or more");
    check_can_fork();

    // Flush the output: otherwise every rank would also print the text in the buffers.
    std::cout.flush();
    std::fflush(nullptr);

    const Socket port = reserve_port({"127.0.0.1", 0});  // until all ranks have ended
    const Job job{.world_size = world_size,
                  .master_addr = "127.0.0.1",
                  .master_port = local_address(port).port,
                  .run_id = random_hex(16),
                  .cookie = random_hex(32)};
    ChildProcesses children;
    for (int rank = 0; rank < world_size; ++rank) children.add(fork_rank(fn, rank, job));
    children.wait(options.grace);
}

}  // namespace mini::dist
