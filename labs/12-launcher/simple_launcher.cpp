#include "labs/12-launcher/simple_launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <system_error>
#include <utility>

#include "libmini/core/descriptor.hpp"
#include "libmini/core/error.hpp"

// [lab12 file]
namespace simple {
namespace {

using Clock = std::chrono::steady_clock;
using mini::Descriptor;

struct Pipe {
    Descriptor read, write;

    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw mini::Error("no pipe is left");
        read = Descriptor(ends[0]);
        write = Descriptor(ends[1]);
    }
};

struct Rank {
    int number = 0;
    pid_t pid = -1;     // -1: it has ended, and was reaped
    Descriptor output;  // non-blocking
    Descriptor ended;   // a pidfd: readable when the program has ended
    std::string line;   // the bytes after the last newline

    ~Rank() {
        if (pid > 0) reap();
    }

    // Kills the group, whose number stays taken until its leader is reaped, then reaps it.
    int reap() {
        kill(-pid, SIGKILL);
        int status = 0;
        waitpid(std::exchange(pid, -1), &status, 0);
        return status;
    }
};

// Returns the caller's variables, with those of a rank in the place of the caller's.
std::vector<std::string> environment_of(int rank, int ranks) {
    std::vector<std::string> variables;
    // [lab12.1] Take the rank's own variables, and the caller's that have other names.
    const std::string r = std::to_string(rank), p = std::to_string(ranks);
    variables = {"RANK=" + r, "LOCAL_RANK=" + r, "WORLD_SIZE=" + p,
                 "LOCAL_WORLD_SIZE=" + p};
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string variable = *each;
        const std::string name = variable.substr(0, variable.find('=') + 1);
        if (std::ranges::none_of(
                variables, [&](const std::string& own) { return own.starts_with(name); }))
            variables.push_back(variable);
    }
    // [lab12.1]
    return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

// Becomes the program; writes errno to `failure` and returns if that fails. Runs in the child,
// where only functions that are safe in a signal handler may be called.
void become_program(char* const* command, char* const* variables, int null, int output,
                    int failure) noexcept {
    // [lab12.1] Prepare the group, the signals and the files, and become the program.
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvpe(command[0], command, variables);
    const int reason = errno;
    (void)!write(failure, &reason, sizeof(reason));
    // [lab12.1]
}

// Starts a rank; blocks until its program runs.
void start(Rank& rank, const Options& options) {
    Pipe output, failure;
    const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    std::vector<std::string> words = options.command;
    std::vector<std::string> variables = environment_of(rank.number, options.ranks);
    const auto command = pointers_to(words), environment = pointers_to(variables);
    rank.pid = fork();
    if (rank.pid < 0) throw mini::Error("no process is left");
    if (rank.pid == 0) {
        become_program(command.data(), environment.data(), null.fd(), output.write.fd(),
                       failure.write.fd());
        _exit(127);
    }

    // The pipe of the failure ends without a byte when exec closes it.
    failure.write.close();
    int reason = 0;
    if (read(failure.read.fd(), &reason, sizeof(reason)) > 0)
        throw mini::Error(mini::concat("cannot start ", words[0], ": ",
                                       std::system_category().message(reason)));
    rank.ended = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, rank.pid, 0)));
    fcntl(output.read.fd(), F_SETFL, O_NONBLOCK);
    rank.output = std::move(output.read);
}

// Shows the lines that are complete now. One read of a pipe's size takes all that the pipe holds;
// a second read might find new bytes each time, and the other ranks would wait.
void read_output(Rank& rank, const Show& show) {
    std::array<char, 65536> buffer;
    const ssize_t count = read(rank.output.fd(), buffer.data(), buffer.size());
    if (count > 0) {
        // [lab12.2] Show each line that is complete now, and keep the rest.
        rank.line.append(buffer.data(), static_cast<size_t>(count));
        size_t begin = 0, end;
        while ((end = rank.line.find('\n', begin)) != std::string::npos) {
            show(rank.number, rank.line.substr(begin, end - begin));
            begin = end + 1;
        }
        rank.line.erase(0, begin);
        // [lab12.2]
    }
    if (count == 0) rank.output.close();
}

// Shows the rest of the output and reaps the rank; returns its status, as waitpid does.
int conclude(Rank& rank, const Show& show) {
    if (!rank.line.empty()) {
        // [lab12.2] Show the last line, which has no newline.
        show(rank.number, rank.line);
        // [lab12.2]
    }
    rank.output.close();
    return rank.reap();
}

// Blocks until a rank writes or ends, or until `deadline`.
void wait_for_events(std::deque<Rank>& ranks, Clock::time_point deadline) {
    std::vector<pollfd> polled;
    for (const Rank& rank : ranks) {
        if (rank.pid < 0) continue;
        polled.push_back({rank.output.fd(), POLLIN, 0});  // poll skips -1
        polled.push_back({rank.ended.fd(), POLLIN, 0});
    }
    int timeout = -1;
    if (deadline != Clock::time_point::max()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        timeout = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    poll(polled.data(), polled.size(), timeout);
}

bool has_ended(const Rank& rank) {
    pollfd ended{rank.ended.fd(), POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
}

}  // namespace

std::optional<End> launch(const Options& options, const Show& show) {
    std::deque<Rank> ranks(static_cast<size_t>(options.ranks));
    for (int number = 0; number < options.ranks; ++number) {
        ranks[static_cast<size_t>(number)].number = number;
        start(ranks[static_cast<size_t>(number)], options);
    }

    std::optional<End> first;
    Clock::time_point deadline = Clock::time_point::max();
    const auto send_all = [&](int signal) {
        for (const Rank& rank : ranks)
            if (rank.pid > 0) kill(-rank.pid, signal);
    };
    while (std::ranges::any_of(ranks, [](const Rank& rank) { return rank.pid > 0; })) {
        wait_for_events(ranks, deadline);
        for (Rank& rank : ranks) {
            if (rank.pid < 0) continue;
            const bool is_last = has_ended(rank);  // before the last read
            if (rank.output.is_open()) read_output(rank, show);
            if (!is_last) continue;
            const int status = conclude(rank, show);
            if (status == 0) continue;
            // [lab12.3] The first failure ends the job: ask all ranks, and give them time.
            if (first) continue;
            if (WIFSIGNALED(status)) first = End{rank.number, true, WTERMSIG(status)};
            if (WIFEXITED(status)) first = End{rank.number, false, WEXITSTATUS(status)};
            send_all(SIGTERM);
            deadline = Clock::now() + options.grace;
            // [lab12.3]
        }
        if (Clock::now() >= deadline) {
            // [lab12.3] Kill the ranks that did not end in time.
            send_all(SIGKILL);
            deadline = Clock::time_point::max();
            // [lab12.3]
        }
    }
    return first;
}

}  // namespace simple
// [lab12 file]
