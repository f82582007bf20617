// This process's rank and world size, which its launcher sets in the environment. torchrun
// and minirun set
//
//     RANK, WORLD_SIZE                the rank, of how many
//     LOCAL_RANK, LOCAL_WORLD_SIZE    the same among the ranks of this host
//     GROUP_RANK                      the number of this host (node)
//
// The extra "launchers" (libmini/extras/launchers) reads the variables of mpirun, mpiexec
// and srun too, by register_rank_source.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libmini/core/machine.hpp"

namespace mini::dist {

class Store;

/// Returns the value of an environment variable; "" if it is not set, or for the name "".
using Lookup = std::function<std::string(const std::string& name)>;

/// The rank variables of one launcher; -1 for a variable that the launcher does not set.
struct RankVariables {
    int rank = -1;
    int world_size = -1;
    int local_rank = -1;
    int local_world_size = -1;
    int node_rank = -1;
    std::string source;  // "torchrun or minirun (RANK, WORLD_SIZE)"
    std::string job_id;  // the same on all ranks, different in each job; "" if unknown

    /// Returns whether both rank and world size are set.
    bool is_complete() const { return rank >= 0 && world_size >= 0; }
};

/// The names of one launcher's variables; "" for a variable that the launcher lacks.
struct Launcher {
    const char* name;
    const char* rank;
    const char* world_size;
    const char* local_rank;
    const char* local_world_size;
    const char* node_rank;
    std::array<const char*, 2> job_id;
};

/// The variables of torchrun, which minirun and spawn set too.
constexpr Launcher kTorchrun = {"torchrun or minirun",
                                "RANK",
                                "WORLD_SIZE",
                                "LOCAL_RANK",
                                "LOCAL_WORLD_SIZE",
                                "GROUP_RANK",
                                {"TORCHELASTIC_RUN_ID", ""}};

/// Returns the variables of one launcher. A number is -1, and the job's id "", if the
/// launcher has no such variable or has not set it. The job's id is the first of the
/// launcher's `job_id` variables that is set. Throws UsageError naming the variable if a
/// value is not a number, or is negative.
RankVariables read_launcher(const Lookup& lookup, const Launcher& launcher);

/// Throws UsageError that names both variables if the rank is not in 0 .. world size - 1.
void check_ranges(const RankVariables& found, const std::string& rank_name,
                  const std::string& size_name);

/// Throws UsageError if the launcher has set only its rank or only its world size.
void check_pair(const Lookup& lookup, const Launcher& launcher);

/// Returns the number in the text. Throws UsageError: "`what` is "3x", which is not an
/// integer".
int parse_integer(const std::string& text, const std::string& what);

/// Returns the number in a variable; -1 if it is not set or is empty. Throws UsageError as
/// read_launcher does.
int number_in(const Lookup& lookup, const std::string& name);

/// Reads the variables of torchrun and minirun, and of the launchers of the registered
/// source. Returns std::nullopt if no launcher has set the variables.
/// Throws UsageError naming the variable if only one of rank and world size is set, or if
/// a value is not a number or is out of range.
std::optional<RankVariables> read_rank_variables(const Lookup& lookup = environment);

/// Returns a hash of the text that is a port in 20000 .. 29999, below the system's
/// ephemeral ports.
int port_from_text(const std::string& text);

// ---- the registry, for libmini/extras/launchers

/// The address of rank 0's store, derived from a launcher's variables.
struct DerivedMaster {
    std::string host;
    int port = 0;
};

/// What an extra adds: further launchers, and the init method file://.
struct RankSource {
    /// Reads the variables of further launchers; `torchrun`: the variables of torchrun or
    /// minirun, if they are set. Returns the variables that this process uses, and throws
    /// as read_rank_variables does.
    std::optional<RankVariables> (*read)(const Lookup& lookup,
                                         std::optional<RankVariables> torchrun);

    /// Derives the address of rank 0's store from what read() has returned, for launchers
    /// that do not set MASTER_ADDR and MASTER_PORT. Throws UsageError, with the advice to
    /// set MASTER_ADDR, if the variables do not tell. `fallback_id`: for a job without id.
    DerivedMaster (*derive_master)(const Lookup& lookup, const RankVariables& variables,
                                   const std::string& fallback_id);

    /// Opens the store of init method file://, for the run `run_id` ("" if it has no id).
    std::unique_ptr<Store> (*open_file)(const std::string& path,
                                        const std::string& run_id);
};

/// Call it in main, before the first use of a rank's variables.
void register_rank_source(const RankSource& source);

/// Returns the registered source; null if there is none.
const RankSource* rank_source();

}  // namespace mini::dist
