// The environment of minirun's ranks, usage errors, and the choice of the port.

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/job.hpp"

using mini::Descriptor;
using namespace mini::test;

TEST_CASE(
    "the ranks of one job have the same address and cookie and run id and jobs differ") {
    const char* script =
        "echo $MASTER_ADDR $MASTER_PORT $MINI_STORE_COOKIE $TORCHELASTIC_RUN_ID";
    std::set<std::string> jobs;
    for (int i = 0; i < 3; ++i) {
        const ProcessResult job = run_script(3, script, {"--no-prefix"});
        const std::vector<std::string> seen = lines(job.out);
        REQUIRE(seen.size() == 3);
        CHECK(seen[0] == seen[1]);
        CHECK(seen[1] == seen[2]);
        CHECK(seen[0].find("127.0.0.1 ") == 0);
        const std::string secrets = seen[0].substr(seen[0].find(' ', 10) + 1);
        CHECK(secrets.find_first_not_of("0123456789abcdef") == 32);  // of the cookie
        jobs.insert(secrets);
    }
    CHECK(jobs.size() == 3);
}

TEST_CASE("one rank runs all threads and MINI_PROGRESS is plain by default") {
    const char* script =
        "echo ${OMP_NUM_THREADS:-all} $MINI_PROGRESS $TORCHELASTIC_RESTART_COUNT";
    CHECK(run_script(1, script).out == "all plain 0\n");
}

TEST_CASE("minirun --bind-to core divides the cores among the ranks") {
    const std::string count = "unset OMP_NUM_THREADS; nproc";  // where it may run
    const int cores = std::stoi(run_script(1, count).out);
    CHECK(run_script(2, "test `" + count + "` = " + std::to_string(cores)).code == 0);
    const std::vector<std::string> bound{"--no-prefix", "--bind-to", "core"};
    CHECK(lines(run_script(cores + 1, count, bound).out) ==
          std::vector<std::string>(static_cast<size_t>(cores) + 1, "1"));
    const auto two =
        lines(run_script(2, "grep Cpus_allowed_list /proc/self/status", bound).out);
    CHECK((two.at(0) != two.at(1)) == (cores > 1));
}

TEST_CASE("a rank's stdin is empty") {
    const auto ended = mini::test::run_in_shell("echo for minirun | minirun -n 2 cat");
    CHECK(ended.code == 0);
    CHECK(ended.out == "");
}

TEST_CASE("minirun --help prints the usage and exits with code 0") {
    Job job({"--help"});
    CHECK(job.wait() == 0);
    CHECK(contains(job.out(), "Usage: minirun -n N"));
}

TEST_CASE("a usage error prints one line and exits with code 2") {
    const std::vector<std::string> args =
        GENERATE(std::vector<std::string>{}, std::vector<std::string>{"-n", "0", "true"},
                 std::vector<std::string>{"-n", "1e9", "true"},
                 std::vector<std::string>{"-n", "2", "--bogus", "true"});
    Job job(args);
    CHECK(job.wait() == 2);
    CHECK(job.out().empty());
    CHECK(lines(job.err()).size() == 1);
    CHECK(contains(job.err(), "minirun --help"));
}

TEST_CASE("a program that cannot be started prints one line and exits with code 127") {
    const std::string program =
        GENERATE("/nonexistent/train", "no-such-program", "/etc/passwd");
    Job job({"-n", "3", program});
    CHECK(job.wait() == 127);
    CHECK(lines(job.err()).size() == 1);
    CHECK(contains(job.err(), program));
}

TEST_CASE("the error for a script that cannot be started says what is wrong with it") {
    const mini::test::Folder folder;
    const auto error = [&](const std::string& text, const std::string& command) {
        const auto answer = mini::test::run_in_shell(
            "cd " + folder.path() + " && printf '" + text + "' > run_me && " + command);
        CHECK(answer.code == 127);
        return answer.err;
    };
    const std::string run = "minirun -n 2 ";
    CHECK(contains(error("#!/bin/sh\\n", run + "./run_me"), "chmod +x"));
    CHECK(contains(error("#!/bin/sh\\r\\n", "chmod +x run_me && " + run + "./run_me"),
                   "no CR at its end"));
    CHECK(contains(error("#!/bin/sh\\n", run + "run_me"), "write ./run_me"));
}

namespace {

// A socket that listens on a free loopback port, with the options of the store's socket.
struct Listener {
    Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};

    Listener() {
        const int reuse = 1;
        setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
        socklen_t size = sizeof(address);
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(bind(socket.fd(), as_sockaddr(), size) == 0);
        REQUIRE(listen(socket.fd(), 1) == 0);
        REQUIRE(getsockname(socket.fd(), as_sockaddr(), &size) == 0);
    }

    sockaddr* as_sockaddr() { return reinterpret_cast<sockaddr*>(&address); }
    std::string port() const { return std::to_string(ntohs(address.sin_port)); }
};

}  // namespace

TEST_CASE(
    "if --master-port is in use, minirun prints one line: the address and what to do") {
    const Listener busy;
    Job job({"-n", "2", "--master-port", busy.port(), "true"});
    CHECK(job.wait() == 1);
    CHECK(lines(job.err()).size() == 1);
    CHECK(contains(job.err(), "127.0.0.1:" + busy.port()));
    CHECK(contains(job.err(), "minirun's --master-port"));
}

TEST_CASE("a fixed port may have connections of the last job in TIME_WAIT") {
    Listener last;
    Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(connect(client.fd(), last.as_sockaddr(), sizeof(last.address)) == 0);
    Descriptor served(accept4(last.socket.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(served.is_open());
    served.close();  // the side that closes first keeps the port in TIME_WAIT
    client.close();
    last.socket.close();

    Job job({"-n", "2", "--master-port", last.port(), "true"});
    CHECK(job.wait() == 0);
    CHECK(job.err().empty());
}

TEST_CASE("rank 0 can listen on the port that minirun chose") {
    // A nested minirun with this fixed port checks that it can listen on the port; nc and
    // python may not be installed.
    Job job({"-n", "1", "sh", "-c",
             MINI_BIN_DIR "/minirun -n 1 --master-port $MASTER_PORT echo free"});
    CHECK(job.wait() == 0);
    CHECK(job.out() == "free\n");
}

TEST_CASE("another socket cannot get the port that minirun chose while the job runs") {
    Job job({"-n", "1", "sh", "-c", "echo port $MASTER_PORT x; sleep 1000"});
    job.wait_for(" x");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(number_after(job.out(), "port ")));

    // bind() without SO_REUSEADDR does the same check as the kernel's search for a free
    // port.
    const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    CHECK(bind(other.fd(), generic, sizeof address) == -1);
    CHECK(errno == EADDRINUSE);
    job.send(SIGTERM);
    job.wait();
    CHECK(bind(other.fd(), generic, sizeof address) == 0);
}
