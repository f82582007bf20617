// The checks of lab 12, task 12.2: a child process becomes a program, and is reaped.

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "labs/12-launcher/test_support.hpp"
#include "libmini/tools/minirun/child.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::lab12;
using dist::Environment;
using tools::CannotStart;
using tools::Child;
using tools::Exit;

namespace {

constexpr int kDeadlineMs = 10000;  // only wrong code waits so long

// Reads until no process has the pipe's write end any more; returns the text.
std::string read_to_end(const Descriptor& pipe) {
    std::string text;
    while (true) {
        pollfd readable{pipe.fd(), POLLIN, 0};
        INFO("read \"" << text
                       << "\", and now nothing comes, but the pipe is still open: "
                       << "a process that has it must still be running");
        REQUIRE(poll(&readable, 1, kDeadlineMs) == 1);
        std::array<char, 4096> buffer;
        const ssize_t count = read(pipe.fd(), buffer.data(), buffer.size());
        if (count <= 0) return text;
        text.append(buffer.data(), static_cast<size_t>(count));
    }
}

// Blocks until the program has ended; does not reap it.
void wait_for_end(const Child& child) {
    siginfo_t info{};
    REQUIRE(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
    REQUIRE(child.has_ended());
}

struct Ended {
    pid_t pid;
    Exit exit;
    std::string out, err;
};

// Runs a program to its end and reaps it.
Ended run(const std::vector<std::string>& command, const Environment& environment) {
    const tools::Cleaner cleaner("");
    Child child(command, environment, cleaner);
    const pid_t pid = child.pid();
    wait_for_end(child);
    const Exit exit = child.reap();
    std::string out = read_to_end(child.out()), err = read_to_end(child.err());
    return {pid, exit, std::move(out), std::move(err)};
}

Ended run_script(const std::string& script, Environment environment = {}) {
    environment.try_emplace("PATH", "/usr/bin:/bin");
    return run({"sh", "-c", script}, environment);
}

// While an object exists, this process's stdin is a pipe that holds `text`.
class StdinWith {
  public:
    explicit StdinWith(const std::string& text)
        : saved_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
        const Pipe pipe = new_pipe();
        REQUIRE(write(pipe.write.fd(), text.data(), text.size()) > 0);
        dup2(pipe.read.fd(), STDIN_FILENO);
    }
    ~StdinWith() { dup2(saved_.fd(), STDIN_FILENO); }
    StdinWith(const StdinWith&) = delete;
    StdinWith& operator=(const StdinWith&) = delete;

  private:
    Descriptor saved_;
};

}  // namespace

TEST_CASE("the child becomes the program with its arguments", "[lab12][lab12.2]") {
    const Ended ended = run({"/bin/sh", "-c", "echo \"$0, $1\"", "a b", ""}, {});
    INFO("sh -c 'echo \"$0, $1\"' 'a b' '' prints its two last arguments");
    CHECK(ended.out == "a b, \n");
    CHECK(ended.err == "");
    CHECK_FALSE(ended.exit.failed());
}

TEST_CASE("stdout and stderr go to two different pipes", "[lab12][lab12.2]") {
    const Ended ended = run_script("echo to stdout; echo to stderr >&2");
    CHECK(ended.out == "to stdout\n");
    CHECK(ended.err == "to stderr\n");
}

TEST_CASE("the program finds the end of its stdin at once", "[lab12][lab12.2]") {
    const StdinWith text("for minirun only\n");
    INFO(
        "minirun's own stdin holds a line; ranks that read it would take each other's "
        "input, so a rank's stdin is /dev/null");
    CHECK(run_script("read line && echo read: $line || echo nothing").out == "nothing\n");
}

TEST_CASE("the program gets the rank's environment and no other", "[lab12][lab12.2]") {
    setenv("OF_MINIRUN", "yes", 1);
    const Ended ended =
        run_script("echo ${RANK-none} ${OF_MINIRUN-none}", {{"RANK", "3"}});
    unsetenv("OF_MINIRUN");
    INFO("its environment has RANK=3; OF_MINIRUN=yes is in this process's environment");
    CHECK(ended.out == "3 none\n");
}

TEST_CASE("the program leads a process group of its own", "[lab12][lab12.2]") {
    const Ended ended = run_script(
        "read pid name state parent group x < /proc/self/stat; "
        "echo $group $$");
    std::string pid = std::to_string(ended.pid);
    INFO(
        "the number of its process group is its pid: a signal to the group then reaches "
        "what it has started too, and nothing else");
    CHECK(ended.out == pid + " " + pid + "\n");
}

TEST_CASE("the program has no signal blocked", "[lab12][lab12.2]") {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (const int each : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&blocked, each);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    const Ended ended = run_script("kill -TERM $$; echo still here");
    sigprocmask(SIG_SETMASK, &before, nullptr);
    INFO(
        "minirun blocks SIGTERM to read it from a descriptor, and exec keeps the mask; "
        "the program sent SIGTERM to itself. It wrote: "
        << ended.out);
    CHECK(ended.out == "");
    CHECK(ended.exit.by_signal);
    CHECK(ended.exit.number == SIGTERM);
}

TEST_CASE("a program that cannot be executed is reported with its reason",
          "[lab12][lab12.2]") {
    const std::string missing = "/no/such/program";
    INFO(
        "exec returns only if it fails; the errno must then reach the failure pipe, or "
        "minirun takes the child for a started program");
    CHECK_THROWS_AS(run({missing}, {}), CannotStart);
    CHECK(contains(test::message_of([&] { run({missing}, {}); }), "No such file"));

    const Folder folder;
    INFO("a folder cannot be executed: permission denied");
    CHECK(contains(test::message_of([&] { run({folder.path()}, {}); }), "denied"));
}

TEST_CASE("reap returns how the program ended", "[lab12][lab12.2]") {
    for (const int code : {0, 1, 3, 127, 255}) {
        const Exit exit = run_script("exit " + std::to_string(code)).exit;
        INFO("exit " << code);
        CHECK_FALSE(exit.by_signal);
        CHECK(exit.number == code);
    }
    for (const int signal : {SIGKILL, SIGTERM, SIGUSR1}) {
        const Exit exit = run_script("kill -" + std::to_string(signal) + " $$").exit;
        INFO("killed by signal " << signal << "; hint 1 of 12.2 helps");
        CHECK(exit.by_signal);
        CHECK(exit.number == signal);
    }
}

TEST_CASE("reap kills the processes that the program has left behind",
          "[lab12][lab12.2]") {
    INFO("the program starts sleep 1000, and ends; sleep has its stdout and its stderr");
    const Ended ended = run_script("sleep 1000 & echo done");
    CHECK(ended.out == "done\n");
    CHECK(ended.exit.code() == 0);
}

TEST_CASE("a reaped child is no longer signalled", "[lab12][lab12.2]") {
    const tools::Cleaner cleaner("");
    Child child({"/bin/sh", "-c", "exit 4"}, {}, cleaner);
    const pid_t pid = child.pid();
    wait_for_end(child);
    CHECK(child.reap().code() == 4);
    INFO("after reap the kernel may give the pid to any other process");
    CHECK(child.pid() == -1);
    CHECK_FALSE(child.has_ended());
    INFO("there is no zombie left to wait for");
    CHECK(waitpid(pid, nullptr, WNOHANG) == -1);
}
