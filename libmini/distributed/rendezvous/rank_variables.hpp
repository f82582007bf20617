// Who am I, and of how many? What each launcher writes into a rank's environment:
//
//                   torchrun,         Open MPI                   MPICH,           Slurm
//                   minirun           (OMPI_COMM_WORLD_...)      Intel MPI        (a step)
//     rank          RANK              ..._RANK                   PMI_RANK         SLURM_PROCID
//     world size    WORLD_SIZE        ..._SIZE                   PMI_SIZE         SLURM_STEP_NUM_TASKS,
//                                                                                 else SLURM_NTASKS
//     local rank    LOCAL_RANK        ..._LOCAL_RANK             MPI_LOCALRANKID  SLURM_LOCALID
//     local size    LOCAL_WORLD_SIZE  ..._LOCAL_SIZE             MPI_LOCALNRANKS  SLURM_STEP_TASKS_PER_NODE
//     node          GROUP_RANK        -                          -                SLURM_NODEID
//
// The first launcher from the left that says both rank and world size wins. PMIx says the
// rank only (PMIX_RANK) and so can contradict but not win. Slurm's variables also stand
// in batch scripts and interactive shells, where no other rank will ever come: they count
// only in a step that srun started, SLURM_STEP_ID.
//
// Two launchers that both speak must agree. Legal, and common: one that started a single
// process, or one process a host, started launchers (srun torchrun), and is left out.

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace mini::dist {

/// The value of an environment variable; nothing when it is not set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Looks in this process's own environment.
std::optional<std::string> environment_variable(const std::string& name);

/// A rank's place, as a launcher told it; -1 for what it did not say.
struct RankVariables {
    int rank = -1;
    int world_size = -1;
    int local_rank = -1;
    int local_world_size = -1;
    int node_rank = -1;
    std::string source;  // "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)"
    std::string job_id;  // the same on all ranks, another in the next job; "" if unknown
};

/// Reads the environment; nothing when no launcher speaks. Throws UsageError naming the
/// variable for half a pair, a value that is not a number or out of range, and naming both
/// sources when two launchers contradict each other.
std::optional<RankVariables> read_rank_variables(const Lookup& lookup);

/// Where rank 0 keeps the store, as far as a launcher's variables tell.
struct DerivedMaster {
    std::string host;
    int port = 0;
};

/// For launchers that set no MASTER_ADDR and MASTER_PORT: loopback when all ranks are on
/// one host, else the first host of a Slurm step; the port follows from the job's id, or
/// where there is none from `fallback_id`. Throws UsageError that says to set MASTER_ADDR
/// when ranks are, or may be, on several hosts and no variable names them.
DerivedMaster derive_master(const Lookup& lookup, const RankVariables& variables,
                            const std::string& fallback_id);

/// A port in 20000 .. 29999, below those that the system gives away, that follows from
/// the text.
int port_from_text(const std::string& text);

/// This process's place on its host, as its launcher told it: which GPU to take, how many
/// share the host, which host this is. 0, 1 and 0 for a program started alone. Throw
/// UsageError when there is a launcher that does not say.
int get_local_rank();
int get_local_world_size();
int get_node_rank();

}  // namespace mini::dist
