#include "tests/tools/job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "libmini/distributed/net/socket.hpp"

namespace mini::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout{30};

struct Ends {
    Descriptor read;
    Descriptor write;
};

Ends make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Ends make_terminal() {
    int ours, theirs;
    if (openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0)
        throw std::runtime_error("openpty failed");
    fcntl(ours, F_SETFD, FD_CLOEXEC);
    fcntl(theirs, F_SETFD, FD_CLOEXEC);
    return {Descriptor(ours), Descriptor(theirs)};
}

// Returns the state of a process in proc(5): 'T' if it is stopped.
char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return text.substr(text.rfind(')') + 1, 2).back();
}

int shell_code(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Polls until `condition()` is true. Throws an error with `message` after kTimeout.
template <typename Condition>
void wait_until(const Condition& condition, const std::string& message) {
    const Clock::time_point deadline = Clock::now() + kTimeout;
    while (!condition()) {
        if (Clock::now() > deadline) throw std::runtime_error(message);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

// Waits for the end of a child. Polls, because waitpid has no timeout.
int wait_for_pid(pid_t pid) {
    int status = 0;
    wait_until([&] { return waitpid(pid, &status, WNOHANG) == pid; },
               "process " + std::to_string(pid) + " has not ended");
    return shell_code(status);
}

}  // namespace

Job::Job(const std::vector<std::string>& args, Screen screen, Program program) {
    std::vector<std::string> words;
    if (program == Program::kMinirun) words.push_back(MINI_BIN_DIR "/minirun");
    words.insert(words.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    const bool terminal = screen == Screen::kTerminal;
    Ends out = terminal ? make_terminal() : make_pipe();
    Ends err = terminal ? Ends{} : make_pipe();
    pid_ = fork();
    if (pid_ == 0) {
        dup2(out.write.fd(), STDOUT_FILENO);
        dup2(terminal ? out.write.fd() : err.write.fd(), STDERR_FILENO);
        for (const int signal : {SIGHUP, SIGINT, SIGQUIT})
            ::signal(signal, SIG_DFL);  // nohup, or a shell's &, has ignored them
        unsetenv("MINI_PROGRESS");
        unsetenv("NO_COLOR");
        unsetenv("OMP_NUM_THREADS");
        unsetenv("MINI_FLIGHT_DIR");
        setenv("TERM", "xterm", 1);
        execvp(argv[0], argv.data());
        _exit(126);
    }
    pipe_[0] = std::move(out.read);
    pipe_[1] = std::move(err.read);
}

Job::~Job() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

// Waits for output and reads it. Returns false if both pipes have ended.
bool Job::read_some() {
    std::vector<int> pipes = {0, 1};
    std::erase_if(pipes, [&](int i) { return !pipe_[i].is_open(); });
    if (pipes.empty()) return false;
    std::vector<pollfd> polled;
    for (const int i : pipes) polled.push_back({pipe_[i].fd(), POLLIN, 0});
    if (poll(polled.data(), polled.size(), std::chrono::milliseconds(kTimeout).count()) <=
        0)
        throw std::runtime_error("minirun writes no output; so far: " + out() + err());

    for (size_t k = 0; k < pipes.size(); ++k) {
        if (polled[k].revents == 0) continue;
        const int i = pipes[k];
        std::array<char, 4096> buffer;
        const ssize_t count = read(pipe_[i].fd(), buffer.data(), buffer.size());
        if (count > 0)
            text_[i].append(buffer.data(), static_cast<size_t>(count));
        else
            pipe_[i].close();  // a terminal ends with EIO
    }
    return true;
}

void Job::wait_for(const std::string& text) {
    const auto found = [&](int i) { return text_[i].find(text) != std::string::npos; };
    while (!found(0) && !found(1))
        if (!read_some())
            throw std::runtime_error("no '" + text + "' in: " + out() + err());
}

void Job::send(int signal) { kill(pid_, signal); }

int Job::wait() {
    while (read_some()) continue;
    return wait_for_pid(std::exchange(pid_, -1));
}

int Job::wait_without_reading() { return wait_for_pid(std::exchange(pid_, -1)); }

// Opens the write end of minirun's stdout, and polls until a write would block.
void Job::wait_until_full() const {
    const std::string name = "/proc/self/fd/" + std::to_string(pipe_[0].fd());
    const Descriptor end(open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    pollfd writable{end.fd(), POLLOUT, 0};
    wait_until([&] { return poll(&writable, 1, 0) == 0; },
               "minirun writes too little to fill its stdout");
}

std::vector<std::string> script_args(int ranks, const std::string& script,
                                     const std::vector<std::string>& options) {
    std::vector<std::string> args = {"-n", std::to_string(ranks)};
    args.insert(args.end(), options.begin(), options.end());
    for (const char* word : {"sh", "-c"}) args.push_back(word);
    args.push_back(script);
    return args;
}

ProcessResult run_script(int ranks, const std::string& script,
                         const std::vector<std::string>& options) {
    Job job(script_args(ranks, script, options));
    const int code = job.wait();
    return {code, job.out(), job.err()};
}

ProcessResult run_program(const std::vector<std::string>& command) {
    Job job(command, Screen::kPipes, Program::kItself);
    const int code = job.wait();
    return {code, job.out(), job.err()};
}

ProcessResult run_in_shell(const std::string& command) {
    return run_program({"sh", "-c", "PATH=" MINI_BIN_DIR ":$PATH; " + command});
}

std::vector<pid_t> children_of(pid_t pid) {
    const std::string number = std::to_string(pid);
    std::ifstream file("/proc/" + number + "/task/" + number + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
}

std::vector<pid_t> ranks_of(pid_t minirun) {
    std::vector<pid_t> ranks = children_of(minirun);
    std::erase_if(ranks, [](pid_t pid) {
        std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
        std::string name;
        return !std::getline(file, name) || name == "minirun";
    });
    return ranks;
}

int free_port() {
    static std::vector<dist::Socket> held;
    held.push_back(dist::reserve_port({"127.0.0.1", 0}));
    return dist::local_address(held.back()).port;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) found.push_back(line);
    return found;
}

pid_t number_after(const std::string& text, const std::string& name) {
    const size_t at = text.find(name);
    if (at == std::string::npos)
        throw std::runtime_error("no '" + name + "' in: " + text);
    return std::stoi(text.substr(at + name.size()));
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void wait_until_stopped(pid_t pid) {
    wait_until([&] { return state_of(pid) == 'T'; },
               "process " + std::to_string(pid) + " is not stopped");
}

void wait_until_continued(pid_t pid) {
    wait_until([&] { return state_of(pid) != 'T'; },
               "process " + std::to_string(pid) + " is still stopped");
}

void wait_until_unblocked(pid_t pid, int signal) {
    const auto is_unblocked = [&] {
        std::ifstream file("/proc/" + std::to_string(pid) + "/status");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const std::string name = "SigBlk:\t";
        const size_t at = text.find(name) + name.size();
        return (std::stoull(text.substr(at, 16), nullptr, 16) >> (signal - 1) & 1) == 0;
    };
    wait_until(is_unblocked, "process " + std::to_string(pid) + " blocks the signal");
}

// When a process ends, its children may become children of this process.
void wait_for_all_orphans() {
    wait_until([] { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; },
               "a child process has not ended");
}

}  // namespace mini::test
