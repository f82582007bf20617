// Ranks of backend mpi. mpirun starts the ranks, and stops all ranks when one has failed.

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "tests/faults/acting.hpp"
#include "tests/faults/scene.hpp"
#include "tests/faults/watching.hpp"
#include "tests/support/folder.hpp"

namespace mini::dist::faults {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kMpirunTime(10000);  // for mpirun to exit after all ranks
constexpr milliseconds kPause(2);

std::string line_of(const Scenario& s) {
    return nlohmann::json{static_cast<int>(s.kind),
                          static_cast<int>(s.moment),
                          static_cast<int>(s.operation),
                          s.n,
                          s.world_size,
                          s.victim,
                          s.seed,
                          s.timeout.count()}
        .dump();
}

Scenario scenario_of(const std::string& line) {
    const auto part = nlohmann::json::parse(line);
    return {.kind = static_cast<Kind>(part[0].get<int>()),
            .moment = static_cast<Moment>(part[1].get<int>()),
            .operation = static_cast<Operation>(part[2].get<int>()),
            .n = part[3],
            .world_size = part[4],
            .victim = part[5],
            .seed = part[6],
            .timeout = milliseconds(part[7].get<int64_t>()),
            .is_over_mpi = true};
}

[[noreturn]] void become_mpirun(const Scenario& s, const std::string& board_file) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    const std::string ranks = std::to_string(s.world_size), line = line_of(s);
    const int dev_null = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(dev_null, fd);
    // Put mpirun's files into the scene's folder, which is removed even after a crash.
    const std::string folder = std::filesystem::path(board_file).parent_path();
    ::setenv("TMPDIR", folder.c_str(), 1);
    ::setenv("OMPI_MCA_btl_vader_backing_directory", folder.c_str(), 1);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);  // mpirun waits for its own children
    ::execlp("mpirun", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
             ranks.c_str(), program.c_str(), "mpi", "--mpi-rank", board_file.c_str(),
             "--mpi-scenario", line.c_str(), nullptr);
    ::_exit(127);
}

// Blocks until mpirun exits, at most until the deadline. Returns whether mpirun exited.
bool has_ended(pid_t mpirun, Deadline deadline) {
    while (::waitpid(mpirun, nullptr, WNOHANG) == 0) {
        if (has_passed(deadline)) return false;
        wait_for_a_child(std::min(deadline, deadline_after(10 * kPause)));
    }
    return true;
}

// Returns whether a rank still runs, and reaps the rank otherwise. When mpirun exits, its
// ranks become children of this process (PR_SET_CHILD_SUBREAPER in main.cpp).
bool is_alive(int process) {
    if (process <= 0 || ::waitpid(process, nullptr, WNOHANG) == process) return false;
    return ::kill(process, 0) == 0;
}

// Waits until all ranks have exited; kills the ranks that still run at the deadline.
// Returns false if a rank was killed.
bool reap_ranks(Board& board, Deadline deadline) {
    bool all_gone = true;
    for (const auto& process : board.process) {
        while (is_alive(process) && !has_passed(deadline))
            std::this_thread::sleep_for(kPause);
        if (!is_alive(process)) continue;
        all_gone = false;
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
    return all_gone;
}

}  // namespace

Outcome play_under_mpirun(const Scenario& s) {
    const mini::test::Folder folder;
    const std::string file = folder / "board";
    const SharedBoard board(file);
    const pid_t mpirun = start_process([&] { become_mpirun(s, file); });

    const Deadline patience = deadline_after(kPatience);
    bool ended = false;
    while (!ended && board->ended < s.world_size && !has_passed(patience))
        ended = has_ended(mpirun, deadline_after(5 * kPause));
    const bool all_reported = board->ended == s.world_size;
    if (!ended) ended = has_ended(mpirun, deadline_after(kMpirunTime));
    if (!ended) ::kill(mpirun, SIGKILL);
    if (!ended) ::waitpid(mpirun, nullptr, 0);
    const bool none_left = reap_ranks(*board, deadline_after(kMpirunTime));
    const bool dies = s.kind == Kind::kKilled;
    return outcome_of(*board, s, !none_left || (dies ? !ended : !all_reported));
}

void play_mpi_rank(const std::string& board_file, const std::string& line) {
    const Scenario s = scenario_of(line);
    const SharedBoard board(board_file);
    {
        // The victim may fail before the others have returned from joining.
        const auto join = [&] {
            return joined({.backend = "mpi", .timeout = s.timeout});
        };
        const int rank = read_rank_variables(environment_variable).value().rank;
        board->process[rank] = ::getpid();
        play_rank(join, rank, s, *board, Body::kMpiProcess);
    }

    // If a rank exits without MPI_Finalize, mpirun stops all ranks: wait until all have
    // reported.
    const Deadline deadline = deadline_after(kPatience);
    while (board->ended < s.world_size && !has_passed(deadline))
        std::this_thread::sleep_for(kPause);
}

}  // namespace mini::dist::faults
