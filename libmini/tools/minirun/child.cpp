#include "libmini/tools/minirun/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

std::vector<std::string> as_entries(const dist::Environment& environment) {
    std::vector<std::string> entries;
    for (const auto& [name, value] : environment) entries.push_back(name + "=" + value);
    return entries;
}

// The pipes from a rank to minirun. exec closes the failure pipe; if exec fails, the
// child writes errno to this pipe.
struct Pipes {
    Pipe out = make_pipe();
    Pipe err = make_pipe();
    Pipe failure = make_pipe();
};

// The values that the child needs between fork and exec. The child may make only system
// calls there, so all memory is allocated before fork.
struct Startup {
    pid_t parent;
    int null;               // /dev/null, open for reading
    int out, err, failure;  // write ends of the three pipes
    char** arguments;       // arguments[0] is the program
    char** environment;
};

// Makes the kernel kill the child when minirun dies. Ends the child if minirun is already
// dead.
void die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

// Runs in the child process after fork. Makes the child the leader of a new process
// group, unblocks all signals (exec keeps the signal mask, and minirun blocks some
// signals), connects stdin, stdout and stderr with startup.null, .out and .err, and
// executes the program, looked up in PATH, with startup.environment. If exec fails,
// writes errno (an int) to startup.failure and returns: the caller ends the process.
// Calls only async-signal-safe functions, and execvpe, which in glibc (since 2.24)
// allocates nothing.
void become_program(const Startup& startup) noexcept {
    setpgid(0, 0);

    sigset_t empty;
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, nullptr);

    dup2(startup.null, STDIN_FILENO);
    dup2(startup.out, STDOUT_FILENO);
    dup2(startup.err, STDERR_FILENO);
    execvpe(startup.arguments[0], startup.arguments, startup.environment);

    const int reason = errno;
    (void)!write(startup.failure, &reason, sizeof(reason));
}

// Waits until exec has closed the pipe and returns 0, or returns the errno of exec.
// REQUIRES: this process has closed its write end of the pipe.
int wait_for_exec(const Descriptor& failure) {
    int reason = 0;
    ssize_t count;
    do count = read(failure.fd(), &reason, sizeof(reason));
    while (count < 0 && errno == EINTR);
    return count == sizeof(reason) ? reason : 0;
}

// Returns what the user can do about an errno of exec.
std::string next_step(const std::string& program, int reason) {
    if (reason == EACCES) return "; is it a program or script? chmod +x makes it one";
    if (reason != ENOENT) return "";
    const bool exists = access(program.c_str(), F_OK) == 0;
    if (!exists) return "; check the path, or build it first";
    if (program.find('/') == std::string::npos)
        return concat("; it is in this folder, not in PATH: write ./", program);
    return "; it exists, so the interpreter of its first line is missing: check its "
           "path, and that the line has no CR at its end";
}

}  // namespace

std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    return name ? concat("SIG", name) : concat("signal ", number);
}

std::string Exit::text() const {
    return by_signal ? signal_name(number) : concat("exit code ", number);
}

Child::Child(const std::vector<std::string>& command,
             const dist::Environment& environment, const Cleaner& cleaner)
    : cleaner_(cleaner) {
    // Prepare all values that the child needs.
    std::vector<std::string> words = command, entries = as_entries(environment);
    std::vector<char*> arguments = as_pointers(words), variables = as_pointers(entries);
    const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Pipes pipes;
    const Startup startup{getpid(),
                          null.fd(),
                          pipes.out.write.fd(),
                          pipes.err.write.fd(),
                          pipes.failure.write.fd(),
                          arguments.data(),
                          variables.data()};

    // Start the child, which dies with minirun. The child notifies the cleaner before
    // exec, so that the cleaner can kill all processes that the program starts.
    pid_ = fork();
    if (pid_ < 0) throw Error(system_message("fork", errno));
    if (pid_ == 0) {
        die_with(startup.parent);
        cleaner.group_begins(getpid());
        become_program(startup);
        _exit(127);
    }

    // Keep the read ends, and wait until the program runs.
    out_ = std::move(pipes.out.read);
    err_ = std::move(pipes.err.read);
    for (const Descriptor* end : {&out_, &err_}) fcntl(end->fd(), F_SETFL, O_NONBLOCK);
    pipes.failure.write.close();
    const int reason = wait_for_exec(pipes.failure.read);
    if (reason == 0) return;
    kill_group();
    waitpid(pid_, nullptr, 0);
    throw CannotStart("cannot start ", command[0], ": ",
                      std::generic_category().message(reason),
                      next_step(command[0], reason));
}

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

// Kills the group. REQUIRES: the child is not reaped yet, so its group id is not reused.
void Child::kill_group() const {
    send(SIGKILL);
    cleaner_.group_ended(pid_);
}

Exit Child::reap() {
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
}

}  // namespace mini::tools
