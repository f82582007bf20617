#include "libmini/tools/minirun/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace mini::tools {
namespace {

struct Pipe {
    Descriptor read;
    Descriptor write;
};

// Close-on-exec: a rank must not inherit the pipes of other ranks.
Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(system_message("pipe", errno));
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Returns pointers to the words and a final null pointer, as exec requires.
std::vector<char*> as_pointers(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> as_entries(const Environment& environment) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
    return entries;
}

struct Startup {
    pid_t parent;
    int out, err, failure;  // write ends of the three pipes
    char** arguments;
    char** environment;
    const Caretaker& caretaker;
};

// Runs in the child process after fork: executes the program, or writes errno to the
// failure pipe.
[[noreturn]] void become_program(const Startup& startup) {
    setpgid(0, 0);
    startup.caretaker.group_begins(getpid());  // before exec: covers all processes

    // Die when minirun dies; it may already have died.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != startup.parent) _exit(1);

    // exec keeps the signal mask: unblock the signals that minirun blocks.
    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));
    _exit(127);
}

}  // namespace

std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    return name ? concat("SIG", name) : concat("signal ", number);
}

std::string Exit::text() const {
    return by_signal ? signal_name(number) : concat("exit code ", number);
}

Child::Child(const std::vector<std::string>& command, const Environment& environment,
             const Caretaker& caretaker)
    : caretaker_(&caretaker) {
    // Allocate all memory before fork: only system calls are made between fork and exec.
    std::vector<std::string> words = command, entries = as_entries(environment);
    std::vector<char*> arguments = as_pointers(words), variables = as_pointers(entries);
    Pipe out = make_pipe(), err = make_pipe(), failure = make_pipe();
    const Startup startup{getpid(),           out.write.fd(),   err.write.fd(),
                          failure.write.fd(), arguments.data(), variables.data(),
                          caretaker};

    pid_ = fork();
    if (pid_ < 0) throw Error(system_message("fork", errno));
    if (pid_ == 0) become_program(startup);
    out_ = std::move(out.read);
    err_ = std::move(err.read);
    for (const Descriptor* end : {&out_, &err_}) fcntl(end->fd(), F_SETFL, O_NONBLOCK);

    // exec closes the failure pipe; if exec failed, the pipe contains errno.
    failure.write.close();
    int reason = 0;
    ssize_t count;
    do count = read(failure.read.fd(), &reason, sizeof(reason));
    while (count < 0 && errno == EINTR);
    if (count == sizeof(reason)) {
        kill_group();
        waitpid(std::exchange(pid_, -1), nullptr, 0);
        throw CannotStart(concat(
            "cannot start ", command[0], ": ", std::generic_category().message(reason),
            reason == ENOENT ? "; check the path, or build it first" : ""));
    }
}

Child::Child(Child&& other) noexcept
    : caretaker_(other.caretaker_),
      pid_(std::exchange(other.pid_, -1)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

Child::~Child() {
    if (pid_ < 0) return;
    kill_group();
    waitpid(pid_, nullptr, 0);
}

void Child::send(int signal) const {
    if (pid_ > 0) kill(-pid_, signal);
}

bool Child::has_ended() const {
    siginfo_t info{};
    const int flags = WEXITED | WNOHANG | WNOWAIT;
    return pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, flags) == 0 &&
           info.si_pid == pid_;
}

// Kills the group. REQUIRES: not reaped yet, so the group id has not been reused.
void Child::kill_group() const {
    send(SIGKILL);
    caretaker_->group_ended(pid_);
}

Exit Child::reap() {
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
}

}  // namespace mini::tools
