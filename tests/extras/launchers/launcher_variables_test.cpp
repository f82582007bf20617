// The environment variables of each launcher, and the address that is derived from them.

#include "libmini/extras/launchers/launcher_variables.hpp"

#include <map>
#include <vector>

#include "libmini/extras/launchers/slurm_lists.hpp"
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
        return found == variables.end() ? std::nullopt : std::optional(found->second);
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
    const RankVariables torchrun = read(kByTorchrun);
    CHECK(torchrun.rank == 5);
    CHECK(torchrun.world_size == 8);
    CHECK(torchrun.local_rank == 1);
    CHECK(torchrun.local_world_size == 4);
    CHECK(torchrun.node_rank == 1);
    CHECK(torchrun.source == "torchrun or minirun (RANK, WORLD_SIZE)");
    CHECK(torchrun.job_id == "job");

    // OMPI_COMM_WORLD_NODE_RANK is not the rank of the node: it is the index of the
    // process on its host.
    const RankVariables open_mpi = read(kByOpenMpi);
    CHECK(open_mpi.rank == 2);
    CHECK(open_mpi.world_size == 4);
    CHECK(open_mpi.local_rank == 2);
    CHECK(open_mpi.local_world_size == 4);
    CHECK(open_mpi.node_rank == 0);
    CHECK(open_mpi.source == "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)");
    CHECK(open_mpi.job_id == "3829465089");

    const RankVariables hydra = read(kByHydra);
    CHECK(hydra.rank == 1);
    CHECK(hydra.world_size == 3);
    CHECK(hydra.local_rank == 1);
    CHECK(hydra.local_world_size == 3);
    CHECK(hydra.source == "PMI (PMI_RANK, PMI_SIZE)");

    const RankVariables slurm = read(kBySlurm);
    CHECK(slurm.rank == 6);
    CHECK(slurm.world_size == 7);
    CHECK(slurm.local_rank == 2);
    CHECK(slurm.local_world_size == 3);
    CHECK(slurm.node_rank == 1);
    CHECK(slurm.source == "Slurm (SLURM_PROCID, SLURM_NTASKS)");
    CHECK(slurm.job_id == "4711.0");
}

TEST_CASE("without a launcher the result is nullopt and empty variables count as unset") {
    CHECK_FALSE(read_rank_variables(lookup_in({})).has_value());
    CHECK_FALSE(
        read_rank_variables(lookup_in({{"RANK", ""}, {"WORLD_SIZE", ""}})).has_value());
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
    CHECK(contains(fault({{"RANK", "1"}}),
                   "UsageError: environment variable WORLD_SIZE expected, but not set, "
                   "while RANK is 1"));
    CHECK(contains(fault({{"WORLD_SIZE", "2"}}), "variable RANK expected, but not set"));
    CHECK(contains(fault({{"PMI_RANK", "1"}}), "variable PMI_SIZE expected"));
    CHECK(contains(fault({{"OMPI_COMM_WORLD_SIZE", "2"}}),
                   "variable OMPI_COMM_WORLD_RANK expected"));
    CHECK(contains(fault({{"PMIX_RANK", "1"}}), "variable WORLD_SIZE expected"));
    CHECK(contains(fault({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}}),
                   "variable SLURM_NTASKS expected"));
}

TEST_CASE("a value that is not an integer or out of range is an error that names it") {
    CHECK(contains(fault({{"RANK", "3x"}, {"WORLD_SIZE", "4"}}),
                   "RANK is \"3x\", which is not an integer"));
    CHECK(contains(fault({{"RANK", "1.5"}, {"WORLD_SIZE", "4"}}), "RANK is \"1.5\""));
    CHECK(contains(fault({{"RANK", " 1"}, {"WORLD_SIZE", "4"}}), "RANK is \" 1\""));
    CHECK(
        contains(fault({{"RANK", "99999999999"}, {"WORLD_SIZE", "4"}}), "RANK is \"99"));
    CHECK(contains(fault({{"RANK", "-1"}, {"WORLD_SIZE", "4"}}),
                   "RANK is -1; it must not be negative"));
    CHECK(contains(fault({{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
                   "RANK is 4 but WORLD_SIZE is 4; ranks are 0 .. 3"));
    CHECK(contains(fault({{"RANK", "0"}, {"WORLD_SIZE", "0"}}),
                   "WORLD_SIZE is 0; it must be 1 or more"));
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

TEST_CASE("expand_host_list expands brackets and ranges and keeps leading zeros") {
    using Hosts = std::vector<std::string>;
    CHECK(expand_host_list("node7") == Hosts{"node7"});
    CHECK(expand_host_list("node[01-03,7],gpu5") ==
          Hosts{"node01", "node02", "node03", "node7", "gpu5"});
    CHECK(expand_host_list("n[8-11]") == Hosts{"n8", "n9", "n10", "n11"});
    CHECK(expand_host_list("n[098-101]") == Hosts{"n098", "n099", "n100", "n101"});
    CHECK(expand_host_list("r[1-2]n[3,5]x") == Hosts{"r1n3x", "r1n5x", "r2n3x", "r2n5x"});
    CHECK(expand_host_list("a-b.c,d") == Hosts{"a-b.c", "d"});
    for (const char* bad :
         {"", ",", "a,,b", "a[", "a]", "a[]", "a[1", "a[1-]", "a[-1]", "a[2-1]", "a[x]",
          "a[[1]]", "a]1[", "a[1-999999999999]", "a[0-9999999]b[0-9999999]"}) {
        CAPTURE(bad);
        CHECK(contains(failure_of([&] { expand_host_list(bad); }), "Slurm's notation"));
    }
}

TEST_CASE("expand_host_list rejects a list that is too long with the reason") {
    const auto fault_of = [](const std::string& list) {
        return failure_of([&] { expand_host_list(list); });
    };
    // Ranges that end at the largest 64-bit integer.
    CHECK(expand_host_list("n[18446744073709551615]") ==
          std::vector<std::string>{"n18446744073709551615"});
    CHECK(expand_host_list("n[18446744073709551614-18446744073709551615]").size() == 2);
    CHECK(contains(fault_of("n[0-18446744073709551615]"),
                   "UsageError: \"n[0-18446744073709551615]\" is not a list in Slurm's "
                   "notation, such as node[01-03,7],gpu5 or 4(x2),3: it has more than "
                   "65536 entries"));

    // The limit of 65536 entries applies to the whole list.
    CHECK(expand_host_list("n[1-65536]").size() == 65536);
    CHECK(contains(fault_of("n[0-65536]"), "more than 65536 entries"));
    CHECK(contains(fault_of("a[1-40000],b[1-40000]"), "more than 65536 entries"));
    CHECK(contains(fault_of("n[1-40000,1-40000]"), "more than 65536 entries"));
    CHECK(contains(fault_of("a[0-999]b[0-999]"), "more than 65536 entries"));

    // A host name has at most 255 bytes.
    CHECK(expand_host_list(std::string(255, 'n')).size() == 1);
    CHECK(contains(fault_of(std::string(256, 'n')), "a host's name has more than 255"));
    CHECK(contains(fault_of("n[" + std::string(4000, '0') + "-9]"), "has 4000 digits"));
    std::string brackets;
    while (brackets.size() < (128 << 10)) brackets += "a[1]";
    const std::string text = fault_of(brackets);
    CHECK(contains(text, "a host's name has more than 255 bytes"));
    CHECK(text.size() < 300);  // the error does not repeat the whole list
    CHECK(contains(fault_of("n[1-x]"), "\"1-x\" is neither a number nor a range"));
    CHECK(contains(fault_of("n[1"), "its brackets do not match"));
    CHECK(contains(fault_of("a,,b"), "an entry is empty"));
}

TEST_CASE("expand_task_counts expands Slurm's task counts") {
    CHECK(expand_task_counts("4") == std::vector<int>{4});
    CHECK(expand_task_counts("4(x2),3") == std::vector<int>{4, 4, 3});
    for (const char* bad : {"", "x", "4(x)", "4(x2", "4(x0)", "-1", "4(x-1)", "4()",
                            "1(x2000000)", "4(x2)3"}) {
        CAPTURE(bad);
        CHECK(contains(failure_of([&] { expand_task_counts(bad); }), "Slurm's notation"));
    }
    for (const char* large :
         {"1(x65537)", "1(x40000),2(x40000)", "1(x18446744073709551615)"})
        CHECK(contains(failure_of([&] { expand_task_counts(large); }),
                       "it has more than 65536 entries"));
    CHECK(contains(failure_of([&] { expand_task_counts("4,x(x2)"); }),
                   "\"x(x2)\" is not a count of tasks"));
}
