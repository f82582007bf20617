// The environment variables of each launcher, and the address that is derived from them.

#include "libmini/extras/launchers/launchers.hpp"

#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"
#include "tests/distributed/environment.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

using Variables = std::map<std::string, std::string>;

Lookup lookup_in(Variables variables) {
    return [variables = std::move(variables)](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
    };
}

RankVariables read(Variables variables) {
    const auto found = read_rank_variables(lookup_in(std::move(variables)));
    return found ? *found : RankVariables{};
}

std::string fault(Variables variables) {
    return failure_of([&] { read(std::move(variables)); });
}

Variables operator+(Variables a, const Variables& b) {
    for (const auto& [name, value] : b) a[name] = value;
    return a;
}

const Variables kByTorchrun = {{"RANK", "5"},       {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"},
                               {"GROUP_RANK", "1"}, {"TORCHELASTIC_RUN_ID", "job"}};
const Variables kByOpenMpi = {
    {"OMPI_COMM_WORLD_RANK", "2"},       {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
    {"OMPI_COMM_WORLD_NODE_RANK", "2"},  {"OMPI_MCA_ess_base_jobid", "3829465089"}};
const Variables kByHydra = {{"PMI_RANK", "1"},
                            {"PMI_SIZE", "3"},
                            {"MPI_LOCALRANKID", "1"},
                            {"MPI_LOCALNRANKS", "3"}};
const Variables kBySlurm = {
    {"SLURM_PROCID", "6"},           {"SLURM_NTASKS", "7"},
    {"SLURM_LOCALID", "2"},          {"SLURM_NODEID", "1"},
    {"SLURM_STEP_ID", "0"},          {"SLURM_JOB_ID", "4711"},
    {"SLURM_TASKS_PER_NODE", "4,3"}, {"SLURM_JOB_NODELIST", "node[07-08]"}};

}  // namespace

TEST_CASE("all variables of each launcher are read") {
    struct Case {
        Variables variables;
        std::vector<int> numbers;  // rank, world size, local rank and size, node
        std::string source, job_id;
    };
    // OMPI_COMM_WORLD_NODE_RANK is not the rank of the node: it is the index of the
    // process on its host.
    const Case cases[] = {
        {kByTorchrun, {5, 8, 1, 4, 1}, "torchrun or minirun (RANK, WORLD_SIZE)", "job"},
        {kByOpenMpi,
         {2, 4, 2, 4, 0},
         "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)",
         "3829465089"},
        {kByHydra, {1, 3, 1, 3, 0}, "PMI (PMI_RANK, PMI_SIZE)", ""},
        {kBySlurm, {6, 7, 2, 3, 1}, "Slurm (SLURM_PROCID, SLURM_NTASKS)", "4711.0"}};
    for (const Case& each : cases) {
        const RankVariables found = read(each.variables);
        CHECK(std::vector{found.rank, found.world_size, found.local_rank,
                          found.local_world_size, found.node_rank} == each.numbers);
        CHECK(found.source == each.source);
        CHECK(found.job_id == each.job_id);
    }
}

TEST_CASE("without a launcher the result is nullopt and empty variables count as unset") {
    CHECK_FALSE(read_rank_variables(lookup_in({})).has_value());
    CHECK(read(Variables{{"RANK", ""}, {"WORLD_SIZE", ""}} + kByHydra).world_size == 3);
}

TEST_CASE("the first launcher of the table that sets both rank and world size is used") {
    const Variables agreeing_mpi = {{"OMPI_COMM_WORLD_RANK", "5"},
                                    {"OMPI_COMM_WORLD_SIZE", "8"}};
    CHECK(read(kByTorchrun + agreeing_mpi).source.starts_with("torchrun"));
    CHECK(read(kByOpenMpi + Variables{{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}})
              .source.starts_with("Open MPI"));
    CHECK(read(Variables{{"RANK", "9"}} + kByHydra).source.starts_with("PMI"));
    CHECK(read(kByHydra + Variables{{"PMIX_RANK", "1"}}).rank == 1);
}

TEST_CASE(
    "if only one of rank and world size is set the error names the missing variable") {
    CHECK(contains(fault({{"PMI_RANK", "1"}}), "variable PMI_SIZE expected"));
    CHECK(contains(fault({{"OMPI_COMM_WORLD_SIZE", "2"}}),
                   "variable OMPI_COMM_WORLD_RANK expected"));
    CHECK(contains(fault({{"PMIX_RANK", "1"}}), "variable WORLD_SIZE expected"));
    CHECK(contains(fault({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}}),
                   "variable SLURM_NTASKS expected"));
}

TEST_CASE("a rank of another launcher that is out of range is an error that names it") {
    CHECK(contains(fault(kByHydra + Variables{{"PMI_RANK", "3"}}),
                   "PMI_RANK is 3 but PMI_SIZE is 3"));
    CHECK(contains(fault(kBySlurm + Variables{{"SLURM_PROCID", "7"}}),
                   "SLURM_PROCID is 7 but SLURM_NTASKS is 7"));
}

TEST_CASE("a launcher that started torchrun or minirun is ignored") {
    // srun --ntasks-per-node=1 torchrun --nnodes=2 --nproc-per-node=4
    const Variables srun = {{"SLURM_STEP_ID", "3"},
                            {"SLURM_PROCID", "1"},
                            {"SLURM_NTASKS", "2"},
                            {"SLURM_NODEID", "1"}};
    const Variables mpirun = {{"OMPI_COMM_WORLD_RANK", "0"},
                              {"OMPI_COMM_WORLD_SIZE", "1"}};
    for (const Variables& outer :
         {srun, mpirun, kByOpenMpi, Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}},
          Variables{{"PMIX_RANK", "0"}}}) {
        CHECK(read(kByTorchrun + outer).rank == 5);
        CHECK(read(kByTorchrun + outer).world_size == 8);
    }
}

TEST_CASE("Slurm's variables are used only in a step that srun started") {
    Variables variables = kBySlurm;
    variables.erase("SLURM_STEP_ID");
    CHECK_FALSE(read_rank_variables(lookup_in(variables)).has_value());  // salloc, sbatch
    for (const char* step : {"", "x", "4294967291", "4294967290", "4294967292"}) {
        CAPTURE(step);
        const auto found =
            read_rank_variables(lookup_in(kBySlurm + Variables{{"SLURM_STEP_ID", step}}));
        CHECK_FALSE(found.has_value());
    }
    const Variables shell = {{"SLURM_PTY_PORT", "33333"}};  // srun --pty bash
    CHECK_FALSE(read_rank_variables(lookup_in(kBySlurm + shell)).has_value());
}

TEST_CASE("a Slurm step that is smaller than its job has its own world size") {
    const RankVariables found =
        read(kBySlurm + Variables{{"SLURM_NTASKS", "64"}, {"SLURM_STEP_NUM_TASKS", "7"}});
    CHECK(found.world_size == 7);
    CHECK(found.source == "Slurm (SLURM_PROCID, SLURM_STEP_NUM_TASKS)");
}

TEST_CASE("without MASTER_ADDR the address is derived from the launcher's variables") {
    const auto derive = [](const Variables& variables) {
        return derive_master(lookup_in(variables), read(variables), "parent 12");
    };
    const DerivedMaster slurm = derive(kBySlurm);
    CHECK(slurm.host == "node07");
    CHECK(slurm.port == port_from_text("4711.0"));
    CHECK(derive(kBySlurm + Variables{{"SLURM_STEP_NODELIST", "gpu3,gpu4"}}).host ==
          "gpu3");
    CHECK(derive(kBySlurm + Variables{{"SLURM_JOB_NODELIST", "node7"}}).host ==
          "127.0.0.1");

    CHECK(derive(kByOpenMpi).host == "127.0.0.1");
    CHECK(derive(kByOpenMpi).port == port_from_text("3829465089"));
    CHECK(derive(kByHydra).host == "127.0.0.1");
    CHECK(derive(kByHydra).port == port_from_text("parent 12"));
    CHECK(derive(kByHydra).port != derive(kByOpenMpi).port);

    const Variables far = {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
    const std::string text = failure_of([&] { derive(kByOpenMpi + far); });
    CAPTURE(text);
    CHECK(contains(text, "environment variable MASTER_ADDR expected, but not set"));
    CHECK(contains(text, "of 4 ranks 2 are on this host"));
    CHECK(contains(text, "set MASTER_ADDR to its host on all ranks"));
    Variables unknown = kByHydra;
    unknown.erase("MPI_LOCALNRANKS");
    CHECK(contains(failure_of([&] { derive(unknown); }), "an unknown number"));
}

TEST_CASE("env:// takes another launcher's rank and derives the master address") {
    Environment environment;
    environment.set("OMPI_COMM_WORLD_RANK", "1");
    environment.set("OMPI_COMM_WORLD_SIZE", "2");
    environment.set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
    environment.set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    environment.set("OMPI_MCA_ess_base_jobid", "99");
    const RendezvousConfig config = rendezvous_config("env://", -1, -1);
    CHECK(config.rank == 1);
    CHECK(config.world_size == 2);
    CHECK(to_text(config.master) == concat("127.0.0.1:", port_from_text("99")));

    // If MASTER_ADDR or MASTER_PORT is set, its value is used instead of a derived value.
    environment.set("MASTER_ADDR", "::1");
    CHECK(rendezvous_config("env://", -1, -1).master.host == "::1");
    CHECK(rendezvous_config("env://", -1, -1).master.port == port_from_text("99"));
    environment.set("MASTER_PORT", "1234");
    CHECK(rendezvous_config("env://", -1, -1).master.port == 1234);
    environment.set("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
    CHECK(rendezvous_config("env://", -1, -1).master.port == 1234);
    ::unsetenv("MASTER_ADDR");
    CHECK(contains(failure_of([] { rendezvous_config("env://", -1, -1); }),
                   "MASTER_ADDR expected, but not set"));
}

TEST_CASE("the first host of a list is that of the first numbers in its brackets") {
    const auto is = [](const std::string& list, const std::string& name, bool is_only) {
        CAPTURE(list);
        CHECK(first_host(list).name == name);
        CHECK(first_host(list).is_only == is_only);
    };
    is("node7", "node7", true);
    is("node[01-03,7],gpu5", "node01", false);
    is("n[098-101]", "n098", false);
    is("n[5]", "n5", true);
    is("r[1-2]n[3,5]x", "r1n3x", false);
    is("r[1]n[3]x", "r1n3x", true);
    is("a-b.c,d", "a-b.c", false);
    is("n[18446744073709551615]", "n18446744073709551615", true);
    for (const char* bad : {"", ",", "a[", "a]", "a[]", "a[1", "a[-1]", "a[x]", "a[1x]",
                            "a[[1]]", "a]1["}) {
        CAPTURE(bad);
        CHECK(contains(failure_of([&] { first_host(bad); }), "Slurm's notation"));
    }
    const std::string text = failure_of([] { first_host(std::string(4000, ']')); });
    CHECK(text.size() < 300);  // the error does not repeat the whole list
}

TEST_CASE("a node's task count is found in Slurm's list") {
    CHECK(task_count("4", 0) == 4);
    CHECK(task_count("4", 1) == -1);
    for (const auto& [node, count] : std::map<int, int>{{0, 4}, {1, 4}, {2, 3}, {3, -1}})
        CHECK(task_count("4(x2),3", node) == count);
    CHECK(task_count("1(x2147483647),2", 1) == 1);
    for (const char* bad : {"", "x", "4(x)", "4(x2", "4(x0)", "-1", "4(x-1)", "4()",
                            "1(x99999999999)", "4(x2)3", "4,,3"}) {
        CAPTURE(bad);
        CHECK(contains(failure_of([&] { task_count(bad, 9); }), "Slurm's notation"));
    }
}
