// This process's rank and world size. Each launcher sets them in the environment:
//
//               torchrun,         Open MPI: OMPI_  MPICH,           Slurm, in a step:
//               minirun           COMM_WORLD_...   Intel MPI        SLURM_...
//   rank        RANK              RANK             PMI_RANK         PROCID
//   world size  WORLD_SIZE        SIZE             PMI_SIZE         STEP_NUM_TASKS,
//                                                                   else NTASKS
//   local rank  LOCAL_RANK        LOCAL_RANK       MPI_LOCALRANKID  LOCALID
//   local size  LOCAL_WORLD_SIZE  LOCAL_SIZE       MPI_LOCALNRANKS  STEP_TASKS_PER_NODE
//   node        GROUP_RANK        -                -                NODEID
//
// The first launcher from the left that sets both rank and world size is used. A second
// launcher that sets both must agree with the first, except if the second is an outer
// launcher that started only other launchers, at most one per host (srun torchrun). PMIx
// sets only the rank (PMIX_RANK), which must agree with the rank of one of the launchers,
// or be the index of a host if torchrun or minirun started this rank. Slurm also
// sets its variables in batch scripts and interactive shells, which are not ranks, so
// these variables are used only in a step that srun started (SLURM_STEP_ID).

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace mini::dist {

/// Returns the value of an environment variable; std::nullopt if it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns a variable of this process's environment; std::nullopt if it is not set.
std::optional<std::string> environment_variable(const std::string& name);

/// The rank variables of one launcher; -1 for a variable that the launcher does not set.
struct RankVariables {
    int rank = -1;
    int world_size = -1;
    int local_rank = -1;
    int local_world_size = -1;
    int node_rank = -1;
    std::string source;  // "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)"
    std::string job_id;  // the same on all ranks, different in each job; "" if unknown
};

/// Reads the environment. Returns std::nullopt if no launcher has set the variables.
/// Throws UsageError naming the variable if only one of rank and world size is set, or if
/// a value is not a number or is out of range. Throws UsageError naming both launchers if
/// two launchers contradict each other.
std::optional<RankVariables> read_rank_variables(const Lookup& lookup);

/// The address of rank 0's store, derived from a launcher's variables.
struct DerivedMaster {
    std::string host;
    int port = 0;
};

/// Derives the address of rank 0's store, for launchers that do not set MASTER_ADDR and
/// MASTER_PORT. The host is 127.0.0.1 if all ranks are on one host, else the first host
/// of the Slurm step. The port is a hash of the job's id, or of `fallback_id` if the id
/// is unknown. Throws UsageError, with the advice to set MASTER_ADDR, if the ranks may be
/// on several hosts and no variable lists the hosts.
DerivedMaster derive_master(const Lookup& lookup, const RankVariables& variables,
                            const std::string& fallback_id);

/// Returns a hash of the text that is a port in 20000 .. 29999, below the system's
/// ephemeral ports.
int port_from_text(const std::string& text);

// Each of the next three functions returns the launcher's variable. Each throws
// UsageError if a launcher has started this program but has not set the variable.

/// Returns this rank's number on its host, which is also the index of its GPU; 0 without
/// a launcher.
int get_local_rank();

/// Returns the number of ranks on this host; 1 without a launcher.
int get_local_world_size();

/// Returns the number of this host; 0 without a launcher.
int get_node_rank();

}  // namespace mini::dist
