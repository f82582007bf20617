#include "libmini/extras/launchers/launchers.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

#include "libmini/core/error.hpp"
#include "libmini/extras/launchers/file_store.hpp"

namespace mini::dist {
namespace {

constexpr std::array<Launcher, 2> kLaunchers = {{
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     "",
     {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}},
    {"PMI",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     "",
     {"PMI_JOBID", "PMI_PORT"}},
}};

// Slurm's variables, in steps: see read_slurm.
constexpr Launcher kSlurm = {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
                             "",      "SLURM_NODEID", {"", ""}};

// PMIx sets no world size.
constexpr Launcher kPmix = {"PMIx", "PMIX_RANK", "WORLD_SIZE", "", "", "", {"", ""}};

// The first of the step ids that Slurm reserves for processes that are not ranks (batch
// scripts, interactive shells).
constexpr int64_t kFirstSpecialStep = 0xfffffff0;

// Returns whether srun started this process as a rank; false in a shell in which Slurm's
// variables are set.
bool is_slurm_step(const Lookup& lookup) {
    const std::string step = lookup("SLURM_STEP_ID");
    int64_t number = 0;
    const char* end = step.data() + step.size();
    const auto [rest, code] = std::from_chars(step.data(), end, number);
    const bool is_number = code == std::errc() && rest == end;
    const bool is_shell = !lookup("SLURM_PTY_PORT").empty();  // srun --pty
    return is_number && !is_shell && number < kFirstSpecialStep;
}

// Returns the step's variable (such as SLURM_STEP_NODELIST) if it is set, else the job's
// variable.
std::string step_or_job(const Lookup& lookup, const std::string& step_name,
                        const std::string& job_name) {
    const std::string of_step = lookup(step_name);
    return of_step.empty() ? lookup(job_name) : of_step;
}

int slurm_local_size(const Lookup& lookup, int node) {
    const auto counts =
        step_or_job(lookup, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
    if (counts.empty()) return number_in(lookup, "SLURM_NTASKS_PER_NODE");
    return node < 0 ? -1 : task_count(counts, node);
}

RankVariables read_slurm(const Lookup& lookup) {
    Launcher slurm = kSlurm;
    for (const char* name : {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"})
        if (!lookup(name).empty()) slurm.world_size = name;
    RankVariables found = read_launcher(lookup, slurm);
    found.local_world_size = slurm_local_size(lookup, found.node_rank);
    found.job_id = concat(lookup("SLURM_JOB_ID"), ".", lookup("SLURM_STEP_ID"));
    if (found.is_complete()) check_ranges(found, slurm.rank, slurm.world_size);
    return found;
}

std::unique_ptr<Store> open_file(const std::string& path, const std::string& run_id) {
    return std::make_unique<FileStore>(path, concat("run/", run_id, "/"));
}

[[noreturn]] void refuse(const std::string& list) {
    constexpr size_t kQuotedBytes = 80;
    const bool is_long = list.size() > kQuotedBytes;
    throw UsageError("\"", list.substr(0, kQuotedBytes), is_long ? "...\"" : "\"",
                     " is not a list in Slurm's notation, such as "
                     "node[01-03,7],gpu5 or 4(x2),3");
}

}  // namespace

void use_launchers() {
    register_rank_source(
        {.read = read_launchers, .derive_master = derive_master, .open_file = open_file});
}

std::optional<RankVariables> read_launchers(const Lookup& lookup,
                                            std::optional<RankVariables> torchrun) {
    if (torchrun) return torchrun;
    for (const Launcher& launcher : kLaunchers) {
        RankVariables found = read_launcher(lookup, launcher);
        if (!found.is_complete()) continue;
        check_ranges(found, launcher.rank, launcher.world_size);
        return found;
    }
    const bool is_slurm = is_slurm_step(lookup);
    if (is_slurm)
        if (RankVariables found = read_slurm(lookup); found.is_complete()) return found;

    // Report a launcher that has set only a part.
    for (const Launcher& launcher : kLaunchers) check_pair(lookup, launcher);
    check_pair(lookup, kTorchrun);
    check_pair(lookup, kPmix);
    if (is_slurm) check_pair(lookup, kSlurm);
    return std::nullopt;
}

DerivedMaster derive_master(const Lookup& lookup, const RankVariables& variables,
                            const std::string& fallback_id) {
    const std::string& id = variables.job_id.empty() ? fallback_id : variables.job_id;
    const int port = port_from_text(id);
    const bool one_host =
        variables.world_size == 1 || variables.world_size == variables.local_world_size;
    if (one_host) return {"127.0.0.1", port};

    // Only Slurm lists its hosts; rank 0 is on the first host.
    const bool is_slurm = variables.source.starts_with("Slurm");
    const auto list = step_or_job(lookup, "SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST");
    if (is_slurm && !list.empty()) {
        const FirstHost first = first_host(list);
        return {first.is_only ? "127.0.0.1" : first.name, port};
    }
    const std::string local = variables.local_world_size < 0
                                  ? "an unknown number"
                                  : std::to_string(variables.local_world_size);
    throw UsageError(
        "environment variable MASTER_ADDR expected, but not set: of ",
        variables.world_size, " ranks ", local, " are on this host, and ",
        variables.source,
        " does not give rank 0's address; set MASTER_ADDR to its host on all ranks "
        "(mpirun -x MASTER_ADDR=HOST, mpiexec -genv MASTER_ADDR HOST)");
}

FirstHost first_host(const std::string& list) {
    FirstHost host;
    size_t i = 0;
    while (i < list.size() && list[i] != ',') {
        if (list[i] == ']') refuse(list);
        if (list[i] != '[') {
            host.name += list[i++];
            continue;
        }
        // Take the first number in the brackets.
        const size_t close = list.find(']', i);
        if (close == list.npos) refuse(list);
        const std::string numbers = list.substr(i + 1, close - i - 1);
        const size_t end = numbers.find_first_not_of("0123456789");
        const bool is_one = end == numbers.npos;
        if (numbers.empty() || end == 0) refuse(list);
        if (!is_one && numbers[end] != '-' && numbers[end] != ',') refuse(list);
        host.name += numbers.substr(0, end);
        host.is_only = host.is_only && is_one;
        i = close + 1;
    }
    if (host.name.empty()) refuse(list);
    host.is_only = host.is_only && i == list.size();
    return host;
}

int task_count(const std::string& list, int node) {
    std::string_view rest = list;
    const auto take_number = [&] {
        int number = -1;
        const char* const begin = rest.data();
        const auto [end, code] = std::from_chars(begin, begin + rest.size(), number);
        if (code != std::errc() || number < 0) refuse(list);
        rest.remove_prefix(static_cast<size_t>(end - begin));
        return number;
    };
    const auto take = [&](std::string_view text) {
        if (!rest.starts_with(text)) return false;
        rest.remove_prefix(text.size());
        return true;
    };
    do {
        const int count = take_number();
        int nodes = 1;
        if (take("(x")) {
            nodes = take_number();
            if (nodes == 0 || !take(")")) refuse(list);
        }
        if (node < nodes) return count;
        node -= nodes;
    } while (take(","));
    if (!rest.empty()) refuse(list);
    return -1;
}

}  // namespace mini::dist
