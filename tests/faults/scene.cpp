#include "tests/faults/scene.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"
#include "tests/faults/acting.hpp"
#include "tests/faults/watching.hpp"

namespace mini::dist::faults {
namespace {

InitOptions options_of(const std::string& group_kind, const Scenario& s, int rank,
                       int port) {
    const bool is_odd = s.kind == Kind::kOtherWorld && rank == s.victim;
    return {.backend = group_kind == "gloo" ? "gloo" : "ring",
            .init_method = concat("tcp://127.0.0.1:", port),
            .rank = rank,
            .world_size = s.world_size + (is_odd ? 1 : 0),
            .timeout = s.timeout,
            .medium = group_kind == "ring-tcp" ? Medium::kTcp : Medium::kAuto};
}

std::vector<pid_t> start_threads(const Scenario& s, Board& board) {
    return {start_process([&] {
        auto groups = make_threads_groups(s.world_size, s.timeout);
        test::on_ranks(s.world_size, [&](int rank) {
            const auto mine = static_cast<size_t>(rank);
            play_rank([&] { return std::move(groups[mine]); }, rank, s, board,
                      Body::kThread);
        });
    })};
}

std::vector<pid_t> start_processes(const std::string& group_kind, const Scenario& s,
                                   Board& board) {
    const int port = test::free_port();
    const bool is_twice = s.kind == Kind::kTwice;
    std::vector<pid_t> processes;
    for (int slot = 0; slot < s.world_size + (is_twice ? 1 : 0); ++slot) {
        if (s.kind == Kind::kAbsent && slot == s.victim) continue;
        const int rank = slot < s.world_size ? slot : s.victim;
        processes.push_back(start_process([&, slot, rank] {
            const auto join = [&] {
                return joined(options_of(group_kind, s, rank, port));
            };
            play_rank(join, slot, s, board, Body::kProcess);
        }));
    }
    return processes;
}

}  // namespace

Outcome play(const std::string& group_kind, const Scenario& s) {
    if (group_kind == "mpi") return play_under_mpirun(s);
    const SharedBoard board;
    const bool are_threads = group_kind == "threads";
    const bool hung = !watch(
        are_threads ? start_threads(s, *board) : start_processes(group_kind, s, *board),
        s);
    return outcome_of(*board, s, hung);
}

}  // namespace mini::dist::faults
