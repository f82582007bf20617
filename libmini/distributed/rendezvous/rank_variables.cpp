#include "libmini/distributed/rendezvous/rank_variables.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/slurm_lists.hpp"

namespace mini::dist {
namespace {

// The names of one launcher's variables; "" for a variable that the launcher lacks.
struct Launcher {
    const char* name;
    const char* rank;
    const char* world_size;
    const char* local_rank;
    const char* local_world_size;
    const char* node_rank;
    std::array<const char*, 2> job_id;
};

constexpr std::array<Launcher, 3> kLaunchers = {{
    {"torchrun or minirun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     "GROUP_RANK",
     {"TORCHELASTIC_RUN_ID", ""}},
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

// The first of the step ids that Slurm reserves for processes that are not ranks (batch
// scripts, interactive shells).
constexpr int64_t kFirstSpecialStep = 0xfffffff0;

std::optional<std::string> find(const Lookup& lookup, const std::string& name) {
    if (name.empty()) return std::nullopt;
    auto value = lookup(name);
    return value && !value->empty() ? value : std::nullopt;
}

template <typename Number>
bool parse_whole(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && rest == end;
}

// Returns the number in a variable; -1 if the variable is not set or is empty.
int number_in(const Lookup& lookup, const std::string& name) {
    const auto text = find(lookup, name);
    if (!text) return -1;
    int number = 0;
    if (!parse_whole(*text, number))
        throw UsageError(concat("environment variable ", name, " is \"", *text,
                                "\", which is not an integer"));
    if (number < 0)
        throw UsageError(concat("environment variable ", name, " is ", number,
                                "; it must not be negative"));
    return number;
}

void check_ranges(const RankVariables& found, const std::string& rank_name,
                  const std::string& size_name) {
    if (found.world_size < 1)
        throw UsageError(
            concat(size_name, " is ", found.world_size, "; it must be 1 or more"));
    if (found.rank >= found.world_size)
        throw UsageError(concat(rank_name, " is ", found.rank, " but ", size_name, " is ",
                                found.world_size, "; ranks are 0 .. ",
                                found.world_size - 1));
}

std::string source_text(const std::string& launcher, const std::string& rank_name,
                        const std::string& size_name) {
    return concat(launcher, " (", rank_name, ", ", size_name, ")");
}

// Returns the variables of one launcher. A number is -1, and the job's id "", if the
// launcher has no such variable or has not set it. The job's id is the first of the
// launcher's `job_id` variables that is set.
RankVariables read_launcher(const Lookup& lookup, const Launcher& launcher) {
    RankVariables found;
    found.source = source_text(launcher.name, launcher.rank, launcher.world_size);
    // [lab12.1] Read the launcher's variables.
    found.rank = number_in(lookup, launcher.rank);
    found.world_size = number_in(lookup, launcher.world_size);
    found.local_rank = number_in(lookup, launcher.local_rank);
    found.local_world_size = number_in(lookup, launcher.local_world_size);
    found.node_rank = number_in(lookup, launcher.node_rank);
    for (const char* name : launcher.job_id)
        if (found.job_id.empty()) found.job_id = find(lookup, name).value_or("");
    // [lab12.1]
    return found;
}

// ---- Slurm

// Returns whether srun started this process as a rank; false in a shell in which Slurm's
// variables are set.
bool is_slurm_step(const Lookup& lookup) {
    const auto step = find(lookup, "SLURM_STEP_ID");
    int64_t number = 0;
    const bool is_shell = find(lookup, "SLURM_PTY_PORT").has_value();  // srun --pty
    return step && !is_shell && parse_whole(*step, number) && number < kFirstSpecialStep;
}

// Returns the step's variable (such as SLURM_STEP_NODELIST) if it is set, else the job's
// variable.
std::optional<std::string> step_or_job(const Lookup& lookup, const std::string& step_name,
                                       const std::string& job_name) {
    const auto of_step = find(lookup, step_name);
    return of_step ? of_step : find(lookup, job_name);
}

int slurm_local_size(const Lookup& lookup, int node) {
    const auto counts =
        step_or_job(lookup, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
    if (!counts) return number_in(lookup, "SLURM_NTASKS_PER_NODE");
    const std::vector<int> tasks = expand_task_counts(*counts);
    const auto n = static_cast<size_t>(node);
    return node >= 0 && n < tasks.size() ? tasks[n] : -1;
}

RankVariables read_slurm(const Lookup& lookup) {
    RankVariables found;
    const char* size_name = "SLURM_NTASKS";
    for (const char* name : {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"})
        if (find(lookup, name)) size_name = name;
    found.rank = number_in(lookup, "SLURM_PROCID");
    found.world_size = number_in(lookup, size_name);
    found.local_rank = number_in(lookup, "SLURM_LOCALID");
    found.node_rank = number_in(lookup, "SLURM_NODEID");
    found.local_world_size = slurm_local_size(lookup, found.node_rank);
    found.source = source_text("Slurm", "SLURM_PROCID", size_name);
    found.job_id = concat(find(lookup, "SLURM_JOB_ID").value_or("?"), ".",
                          find(lookup, "SLURM_STEP_ID").value_or("?"));
    if (found.rank >= 0 && found.world_size >= 0)
        check_ranges(found, "SLURM_PROCID", size_name);
    return found;
}

// ---- two launchers

bool is_complete(const RankVariables& found) {
    return found.rank >= 0 && found.world_size >= 0;
}

std::string place_text(const RankVariables& found) {
    return concat("rank ", found.rank, " of ", found.world_size, " by ", found.source);
}

// Returns whether `outer` can be a launcher that started only other launchers, at most
// one per host, and `inner` is the launcher among these that started this rank.
bool started_launchers(const RankVariables& outer, const RankVariables& inner) {
    if (outer.world_size == 1) return true;
    if (inner.local_world_size < 1) return false;
    const int hosts = 1 + (inner.world_size - 1) / inner.local_world_size;
    const bool is_its_node = inner.node_rank < 0 || inner.node_rank == outer.rank;
    return outer.world_size <= hosts && is_its_node;
}

[[noreturn]] void throw_contradiction(const RankVariables& chosen,
                                      const std::string& other) {
    throw UsageError(concat("two launchers contradict each other: this process is ",
                            place_text(chosen), ", but ", other,
                            "; start it with one of them, or unset the variables of the "
                            "other"));
}

void check_agreement(const RankVariables& chosen, const RankVariables& other) {
    const bool same = chosen.rank == other.rank && chosen.world_size == other.world_size;
    if (same || started_launchers(other, chosen)) return;
    throw_contradiction(chosen, place_text(other));
}

bool is_torchrun(const RankVariables& found) {
    return found.source.starts_with("torchrun");
}

// Returns whether PMIX_RANK, which comes without a world size, can be the rank of a
// launcher: of one that `places` has, or of one that started at most one torchrun or
// minirun per host.
bool can_be_pmix_rank(int rank, const std::vector<RankVariables>& places) {
    const RankVariables& chosen = places.front();
    for (const RankVariables& place : places)
        if (place.rank == rank) return true;
    if (!is_torchrun(chosen) || chosen.local_world_size < 1) return false;
    const int hosts = 1 + (chosen.world_size - 1) / chosen.local_world_size;
    return rank == chosen.node_rank || rank < hosts;
}

void check_pmix(const Lookup& lookup, const std::vector<RankVariables>& places) {
    const int rank = number_in(lookup, "PMIX_RANK");
    if (rank < 0 || can_be_pmix_rank(rank, places)) return;
    throw_contradiction(
        places.front(),
        concat("rank ", rank, " of ", places.front().world_size, " by PMIx (PMIX_RANK)"));
}

// Throws UsageError if a launcher has set only its rank or only its world size. REQUIRES:
// no launcher has set both.
void report_half_pairs(const Lookup& lookup) {
    const auto expected = [&](const std::string& missing, const std::string& there) {
        throw UsageError(concat("environment variable ", missing,
                                " expected, but not set, while ", there, " is ",
                                *find(lookup, there), "; set both or neither"));
    };
    for (const Launcher& launcher : kLaunchers) {
        if (find(lookup, launcher.rank)) expected(launcher.world_size, launcher.rank);
        if (find(lookup, launcher.world_size))
            expected(launcher.rank, launcher.world_size);
    }
    if (find(lookup, "PMIX_RANK")) expected("WORLD_SIZE", "PMIX_RANK");
    if (!is_slurm_step(lookup)) return;
    if (find(lookup, "SLURM_PROCID")) expected("SLURM_NTASKS", "SLURM_PROCID");
    if (find(lookup, "SLURM_NTASKS")) expected("SLURM_PROCID", "SLURM_NTASKS");
}

RankVariables this_process() {
    const auto found = read_rank_variables(environment_variable);
    if (found) return *found;
    return {.rank = 0,
            .world_size = 1,
            .local_rank = 0,
            .local_world_size = 1,
            .node_rank = 0,
            .source = "no launcher",
            .job_id = ""};
}

int require_set(int value, const std::string& variable, const RankVariables& place) {
    if (value < 0)
        throw UsageError(
            concat(place.source, " does not set ", variable, "; set it on each rank"));
    return value;
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<RankVariables> read_rank_variables(const Lookup& lookup) {
    // Read the variables of all launchers, in order of precedence.
    std::vector<RankVariables> places;
    for (const Launcher& launcher : kLaunchers) {
        RankVariables found = read_launcher(lookup, launcher);
        if (!is_complete(found)) continue;
        check_ranges(found, launcher.rank, launcher.world_size);
        places.push_back(std::move(found));
    }
    if (is_slurm_step(lookup)) {
        RankVariables found = read_slurm(lookup);
        if (is_complete(found)) places.push_back(std::move(found));
    }
    if (places.empty()) {
        report_half_pairs(lookup);
        return std::nullopt;
    }

    // Use the first launcher's variables, if no other launcher contradicts them.
    RankVariables& chosen = places.front();
    for (const RankVariables& other : places) check_agreement(chosen, other);
    check_pmix(lookup, places);
    if (chosen.world_size == chosen.local_world_size && chosen.node_rank < 0)
        chosen.node_rank = 0;
    return chosen;
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
    if (is_slurm && list) {
        const std::vector<std::string> hosts = expand_host_list(*list);
        return {hosts.size() == 1 ? "127.0.0.1" : hosts.front(), port};
    }
    const std::string local = variables.local_world_size < 0
                                  ? "an unknown number"
                                  : std::to_string(variables.local_world_size);
    throw UsageError(concat(
        "environment variable MASTER_ADDR expected, but not set: of ",
        variables.world_size, " ranks ", local, " are on this host, and ",
        variables.source,
        " does not give rank 0's address; set MASTER_ADDR to its host on all ranks "
        "(mpirun -x MASTER_ADDR=HOST, mpiexec -genv MASTER_ADDR HOST)"));
}

int port_from_text(const std::string& text) {
    // FNV-1a, 32 bits: the same on all systems, unlike std::hash.
    uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<int>(20000 + hash % 10000);
}

int get_local_rank() {
    const RankVariables place = this_process();
    return require_set(place.local_rank, "LOCAL_RANK", place);
}

int get_local_world_size() {
    const RankVariables place = this_process();
    return require_set(place.local_world_size, "LOCAL_WORLD_SIZE", place);
}

int get_node_rank() {
    const RankVariables place = this_process();
    return require_set(place.node_rank, "GROUP_RANK", place);
}

}  // namespace mini::dist
