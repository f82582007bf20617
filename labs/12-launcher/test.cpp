// The checks of lab 12, tasks 12.1, 12.4 and 12.6: the environment of a rank, the root
// cause of a failure, and restarts.

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "labs/12-launcher/test_support.hpp"
#include "libmini/distributed/net/root_cause.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

using namespace mini;
using namespace mini::lab12;
using dist::Environment;
using dist::Job;
using dist::own_variables;
using dist::rank_environment;
using dist::RankEnd;
using dist::RankVariables;
using dist::root_cause;
using tools::Outcome;
using tools::run_with_restarts;

namespace {

Job job_of(int nodes, int local_size, int node_rank) {
    Job job;
    job.world_size = nodes * local_size;
    job.nodes = nodes;
    job.node_rank = node_rank;
    job.master_addr = "127.0.0.1";
    job.master_port = 4711;
    job.run_id = "3f2a";
    job.cookie = "secret";
    return job;
}

// Returns the value of a variable, or "(not set)".
std::string value_of(const Environment& variables, const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "(not set)" : found->second;
}

dist::Lookup lookup_in(const Environment& variables) {
    return [variables](const std::string& name) {
        const auto at = variables.find(name);
        return at == variables.end() ? std::nullopt : std::optional(at->second);
    };
}

RankVariables read_from(const Environment& variables) {
    const auto found = dist::read_rank_variables(lookup_in(variables));
    INFO("rank and world size are set, but were not found");
    REQUIRE(found.has_value());
    return *found;
}

RankEnd fine(int rank) { return {.rank = rank}; }
RankEnd failed(int rank, int blamed = -1) {
    return {.rank = rank, .failed = true, .blamed = blamed};
}
RankEnd killed(int rank, int signal, int blamed = -1) {
    return {.rank = rank, .failed = true, .signal = signal, .blamed = blamed};
}
RankEnd stopped(int rank) { return {.rank = rank, .failed = false, .signal = SIGTERM}; }

// Calls root_cause with the first `seen` ends as suspects, by default all. Returns the
// rank of the cause, or -1 if there is none.
int cause_of(const std::vector<RankEnd>& ends, size_t seen = 99) {
    const auto index = root_cause(ends, std::min(seen, ends.size()));
    if (!index) return -1;
    REQUIRE(*index < ends.size());
    return ends[*index].rank;
}

// What one attempt to run a job received.
struct Attempt {
    int restart_count;
    std::string run_id;
};

// Calls run_with_restarts with one outcome for each attempt; any further attempt
// succeeds. Appends the attempts to `seen`, and returns the exit code.
int attempt(Job job, const std::vector<Outcome>& outcomes, std::vector<Attempt>& seen) {
    return run_with_restarts(job, [&](Job& now) {
        seen.push_back({now.restart_count, now.run_id});
        return seen.size() <= outcomes.size() ? outcomes[seen.size() - 1] : Outcome{};
    });
}

const Outcome kFails{.code = 3, .may_be_restarted = true};

}  // namespace

// ---- 12.1

TEST_CASE("each rank is told its rank, its local rank, its node and the sizes",
          "[lab12][lab12.1]") {
    const int nodes = GENERATE(1, 2, 3), local_size = GENERATE(1, 2, 3, 4, 7);
    for (int node = 0; node < nodes; ++node)
        for (int local = 0; local < local_size; ++local) {
            const auto variables = own_variables(job_of(nodes, local_size, node), local);
            INFO("local rank " << local << " of node " << node << "; " << nodes
                               << " nodes of " << local_size
                               << " ranks. Ranks are counted through all nodes; local "
                                  "ranks begin at 0 on each node; hint 1 of 12.1");
            const std::string rank = std::to_string(node * local_size + local);
            const std::string world = std::to_string(nodes * local_size);
            CHECK(value_of(variables, "RANK") == rank);
            CHECK(value_of(variables, "LOCAL_RANK") == std::to_string(local));
            CHECK(value_of(variables, "ROLE_RANK") == rank);
            CHECK(value_of(variables, "WORLD_SIZE") == world);
            CHECK(value_of(variables, "LOCAL_WORLD_SIZE") == std::to_string(local_size));
            CHECK(value_of(variables, "ROLE_WORLD_SIZE") == world);
            CHECK(value_of(variables, "GROUP_RANK") == std::to_string(node));
            CHECK(value_of(variables, "GROUP_WORLD_SIZE") == std::to_string(nodes));
        }
    INFO("the address of the store is set before your code, and must stay");
    CHECK(value_of(own_variables(job_of(1, 2, 0), 1), "MASTER_PORT") == "4711");
}

TEST_CASE("the user's variables are kept, but the rank's own come first",
          "[lab12][lab12.1]") {
    const Environment user{{"RANK", "7"}, {"MASTER_PORT", "1"}, {"HOME", "/home"}};
    const auto variables = rank_environment(user, job_of(1, 3, 0), 2);
    INFO(
        "the user's shell has RANK=7, MASTER_PORT=1 and HOME=/home; a RANK left over "
        "from another launcher must not reach the program");
    CHECK(value_of(variables, "RANK") == "2");
    CHECK(value_of(variables, "MASTER_PORT") == "4711");
    INFO("without HOME and PATH most programs do not run");
    CHECK(value_of(variables, "HOME") == "/home");
    CHECK(value_of(variables, "WORLD_SIZE") == "3");
}

TEST_CASE(
    "OMP_NUM_THREADS is 1 only beside other ranks and only if the user has not set it",
    "[lab12][lab12.1]") {
    const auto threads = [](const Environment& user, int nodes, int local_size) {
        return value_of(rank_environment(user, job_of(nodes, local_size, 0), 0),
                        "OMP_NUM_THREADS");
    };
    {
        INFO("4 ranks on a node, nothing set: 4 ranks of 8 threads each would compete");
        CHECK(threads({}, 1, 4) == "1");
    }
    {
        INFO("one rank may use all cores, even if other nodes have one rank each");
        CHECK(threads({}, 1, 1) == "(not set)");
        CHECK(threads({}, 4, 1) == "(not set)");
    }
    INFO("the user's choice is kept, also an empty one");
    CHECK(threads({{"OMP_NUM_THREADS", "5"}}, 1, 4) == "5");
    CHECK(threads({{"OMP_NUM_THREADS", ""}}, 1, 4) == "");
    CHECK(threads({{"OMP_NUM_THREADS", "5"}}, 1, 1) == "5");
}

TEST_CASE("MINI_PROGRESS is the job's unless the user has set it", "[lab12][lab12.1]") {
    Job job = job_of(1, 1, 0);
    job.progress = "bar";
    CHECK(value_of(rank_environment({}, job, 0), "MINI_PROGRESS") == "bar");
    INFO("the user has set MINI_PROGRESS=plain");
    CHECK(value_of(rank_environment({{"MINI_PROGRESS", "plain"}}, job, 0),
                   "MINI_PROGRESS") == "plain");
}

TEST_CASE("the program reads what the launcher has set", "[lab12][lab12.1]") {
    const int nodes = GENERATE(1, 2, 3), local_size = GENERATE(1, 2, 3, 4, 7);
    const Job job = job_of(nodes, local_size, nodes - 1);
    const auto found = read_from(rank_environment({}, job, local_size - 1));
    INFO("the last rank of " << nodes << " nodes of " << local_size << " ranks");
    CHECK(found.rank == nodes * local_size - 1);
    CHECK(found.world_size == nodes * local_size);
    CHECK(found.local_rank == local_size - 1);
    CHECK(found.local_world_size == local_size);
    CHECK(found.node_rank == nodes - 1);
    CHECK(found.job_id == "3f2a");
}

TEST_CASE("the variables of MPI's launchers have other names", "[lab12][lab12.1]") {
    {
        INFO("mpirun of Open MPI, 6 ranks on several hosts");
        const dist::Launcher open_mpi = {"Open MPI",
                                         "OMPI_COMM_WORLD_RANK",
                                         "OMPI_COMM_WORLD_SIZE",
                                         "OMPI_COMM_WORLD_LOCAL_RANK",
                                         "OMPI_COMM_WORLD_LOCAL_SIZE",
                                         "",
                                         {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}};
        const auto found =
            dist::read_launcher(lookup_in({{"OMPI_COMM_WORLD_RANK", "5"},
                                           {"OMPI_COMM_WORLD_SIZE", "6"},
                                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                           {"PMIX_NAMESPACE", "second"}}),
                                open_mpi);
        CHECK(found.rank == 5);
        CHECK(found.world_size == 6);
        CHECK(found.local_rank == 1);
        CHECK(found.local_world_size == 2);
        INFO("there is no variable for the node: the name in the table is empty");
        CHECK(found.node_rank == -1);
        INFO("OMPI_MCA_ess_base_jobid is not set, PMIX_NAMESPACE is");
        CHECK(found.job_id == "second");
    }
    INFO("mpiexec of MPICH, which sets both names of the job's id, and no local rank");
    const dist::Launcher pmi = {"PMI",
                                "PMI_RANK",
                                "PMI_SIZE",
                                "MPI_LOCALRANKID",
                                "MPI_LOCALNRANKS",
                                "",
                                {"PMI_JOBID", "PMI_PORT"}};
    const auto found = dist::read_launcher(lookup_in({{"PMI_RANK", "0"},
                                                      {"PMI_SIZE", "4"},
                                                      {"PMI_JOBID", "first"},
                                                      {"PMI_PORT", "second"}}),
                                           pmi);
    CHECK(found.rank == 0);
    CHECK(found.world_size == 4);
    CHECK(found.local_rank == -1);
    CHECK(found.local_world_size == -1);
    CHECK(found.job_id == "first");
}

// ---- 12.4

TEST_CASE("without a failure there is no cause", "[lab12][lab12.4]") {
    CHECK(cause_of({}) == -1);
    CHECK(cause_of({fine(0), fine(1)}) == -1);
    INFO("rank 1 was stopped by the launcher: a signal, but no failure");
    CHECK(cause_of({fine(0), stopped(1)}) == -1);
    CHECK(cause_of({stopped(1), failed(0)}) == 0);
}

TEST_CASE("a killed rank is the cause although others were seen first",
          "[lab12][lab12.4]") {
    {
        INFO("rank 0 ended with an exit code, then rank 1 with SIGKILL");
        CHECK(cause_of({failed(0), killed(1, SIGKILL)}) == 1);
        CHECK(cause_of({failed(0), failed(3), killed(2, SIGSEGV), failed(1)}) == 2);
    }
    {
        INFO("two were killed: the first of them");
        CHECK(cause_of({killed(3, SIGSEGV), killed(1, SIGKILL)}) == 3);
    }
    INFO("a lost peer may cause SIGABRT and SIGPIPE, so these count as exit codes");
    CHECK(cause_of({failed(0), killed(1, SIGABRT)}) == 0);
    CHECK(cause_of({failed(0), killed(1, SIGPIPE)}) == 0);
}

TEST_CASE("a rank that blames no other is the cause before one that does",
          "[lab12][lab12.4]") {
    INFO("rank 0 blames rank 5, which has not ended; rank 2 blames none; so does rank 1");
    CHECK(cause_of({failed(0, 5), failed(2), failed(1)}) == 2);
    INFO("all blame ranks that have not ended: the first");
    CHECK(cause_of({failed(3, 5), failed(2, 5), failed(1, 6)}) == 3);
    CHECK(cause_of({fine(0), failed(1)}) == 1);
}

TEST_CASE("only ranks that ended before the launcher stopped the others can be suspects",
          "[lab12][lab12.4]") {
    INFO("rank 1 crashed while the launcher stopped it; it is not among the first 1");
    CHECK(cause_of({failed(0), killed(1, SIGSEGV)}, 1) == 0);
    CHECK(cause_of({failed(0, 7), failed(1)}, 1) == 0);
    CHECK(cause_of({fine(0), failed(1)}, 1) == -1);
    INFO("but if rank 0 blames it, it is the cause");
    CHECK(cause_of({failed(0, 1), failed(1)}, 1) == 1);
}

TEST_CASE("the chain of blame is followed to its end", "[lab12][lab12.4]") {
    const int length = GENERATE(1, 2, 3, 4, 7);
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < length; ++rank)
        ends.push_back(failed(rank, rank + 1));  // the last one blames a rank that runs
    INFO("each of " << length << " ranks blames the next, the last one rank " << length
                    << ", which has not ended");
    CHECK(cause_of(ends) == length - 1);
    CHECK(cause_of(ends, 1) == length - 1);

    const std::vector<RankEnd> reversed(ends.rbegin(), ends.rend());
    INFO("seen in the reverse order: an index into the ends is not a rank");
    CHECK(cause_of(reversed) == length - 1);
}

TEST_CASE("the chain goes on from a killed rank and stops at one that did not fail",
          "[lab12][lab12.4]") {
    CHECK(cause_of({failed(2), killed(0, SIGTERM, 3), failed(3)}) == 3);
    INFO("rank 0 blames rank 1, which ended well, or was stopped by the launcher");
    CHECK(cause_of({failed(0, 1), fine(1)}) == 0);
    CHECK(cause_of({failed(0, 1), stopped(1)}) == 0);
}

TEST_CASE("ranks that blame each other do not make an endless chain",
          "[lab12][lab12.4]") {
    INFO("a rank that blames itself");
    CHECK(cause_of({failed(0, 0)}) == 0);
    const int length = GENERATE(2, 3, 4, 7);
    std::vector<RankEnd> ends;
    for (int rank = 0; rank < length; ++rank)
        ends.push_back(failed(rank, (rank + 1) % length));
    INFO(length << " ranks in a circle: from rank 0 the chain stops before it would "
                   "return to rank 0");
    CHECK(cause_of(ends) == length - 1);
    INFO("the same with a rank 20 that blames rank 0 and is seen first");
    ends.insert(ends.begin(), failed(20, 0));
    CHECK(cause_of(ends) == length - 1);
}

// ---- 12.6

TEST_CASE("a job that succeeds runs once", "[lab12][lab12.6]") {
    Job job = job_of(1, 2, 0);
    job.max_restarts = 3;
    std::vector<Attempt> seen;
    CHECK(attempt(job, {}, seen) == 0);
    INFO("the first attempt is number 0, and keeps its run id");
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].restart_count == 0);
    CHECK(seen[0].run_id == "3f2a");
}

TEST_CASE("a job that fails is run again until it succeeds", "[lab12][lab12.6]") {
    Job job = job_of(1, 2, 0);
    job.max_restarts = 5;
    std::vector<Attempt> seen;
    INFO("two attempts fail, the third succeeds: its exit code counts");
    CHECK(attempt(job, {kFails, kFails}, seen) == 0);
    CHECK(seen.size() == 3);
}

TEST_CASE("max_restarts counts restarts and not attempts", "[lab12][lab12.6]") {
    const int most = GENERATE(0, 1, 2, 4);
    Job job = job_of(1, 2, 0);
    job.max_restarts = most;
    std::vector<Outcome> outcomes;
    for (int i = 0; i < 20; ++i)
        outcomes.push_back({.code = 10 + i, .may_be_restarted = true});
    std::vector<Attempt> seen;
    INFO("every attempt fails, with exit code 10, 11, 12, ...; "
         << most << " restarts may be made");
    CHECK(attempt(job, outcomes, seen) == 10 + most);
    CHECK(seen.size() == static_cast<size_t>(most) + 1);
}

TEST_CASE("each restart has its own number and run id", "[lab12][lab12.6]") {
    Job job = job_of(1, 2, 0);
    job.max_restarts = 12;
    job.log_name = "base";
    std::vector<Attempt> seen;
    attempt(job, std::vector<Outcome>(12, kFails), seen);
    REQUIRE(seen.size() == 13);
    for (int i = 1; i <= 12; ++i) {
        const Attempt& each = seen[static_cast<size_t>(i)];
        INFO("restart " << i << " of a job whose log_name is \"base\"; what is appended "
                        << "to the last run id grows: base.1.2");
        CHECK(each.restart_count == i);
        CHECK(each.run_id == "base." + std::to_string(i));
    }
}

TEST_CASE("an outcome that may not be restarted is the last", "[lab12][lab12.6]") {
    Job job = job_of(1, 2, 0);
    job.max_restarts = 5;
    std::vector<Attempt> seen;
    INFO("the second attempt ends by the user's Ctrl-C: 130, not to be restarted");
    CHECK(attempt(job, {kFails, {.code = 130, .may_be_restarted = false}}, seen) == 130);
    CHECK(seen.size() == 2);
}

TEST_CASE("minirun starts real ranks again and tells them how often",
          "[lab12][lab12.6]") {
    tools::Options options;
    options.ranks = 2;
    options.max_restarts = 3;
    options.command = {"sh", "-c",
                       "echo run $TORCHELASTIC_RESTART_COUNT; "
                       "[ $TORCHELASTIC_RESTART_COUNT = 2 ] || { echo no >&2; exit 3; }"};
    const Screen screen;
    const int code = tools::launch(options);
    INFO("the ranks exit with 3 until TORCHELASTIC_RESTART_COUNT is 2; stderr was\n"
         << screen.err());
    CHECK(code == 0);
    CHECK(contains(screen.out(), "[rank 1] run 0\n"));
    CHECK(contains(screen.out(), "[rank 1] run 2\n"));
    CHECK_FALSE(contains(screen.out(), "run 3"));
    CHECK(contains(screen.err(), "restart 2 of 3"));
}
