// The variables of the launchers beside torchrun and minirun:
//
//               Open MPI: OMPI_  MPICH,           Slurm, in a step:
//               COMM_WORLD_...   Intel MPI        SLURM_...
//   rank        RANK             PMI_RANK         PROCID
//   world size  SIZE             PMI_SIZE         STEP_NUM_TASKS, else NTASKS
//   local rank  LOCAL_RANK       MPI_LOCALRANKID  LOCALID
//   local size  LOCAL_SIZE       MPI_LOCALNRANKS  STEP_TASKS_PER_NODE
//   node        -                -                NODEID
//
// The first launcher that sets both rank and world size is used: torchrun or minirun, then
// those of the table from the left. So in `srun torchrun` the ranks are torchrun's, and
// Slurm's variables, which are torchrun's own rank, are ignored. If a variable is left from
// another job, the rendezvous reports ranks that occur twice or differ in the world size.
// PMIx sets only a rank (PMIX_RANK): alone it is an error. Slurm also sets its variables in
// batch scripts and interactive shells, which are not ranks, so these variables are used
// only in a step that srun started (SLURM_STEP_ID).

#pragma once

#include <optional>
#include <string>

#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::dist {

/// Registers the launchers and the init method file:// of this folder (rank_variables.hpp).
void use_launchers();

/// As RankSource::read.
std::optional<RankVariables> read_launchers(const Lookup& lookup,
                                            std::optional<RankVariables> torchrun);

/// As RankSource::derive_master. The host is 127.0.0.1 if all ranks are on one host, else
/// the first host of the Slurm step. The port is a hash of the job's id, or of
/// `fallback_id` if the id is unknown.
DerivedMaster derive_master(const Lookup& lookup, const RankVariables& variables,
                            const std::string& fallback_id);

/// The first host of a list in Slurm's compressed notation.
struct FirstHost {
    std::string name{};
    bool is_only = true;  // whether the list has no other host
};

/// Returns the first host: node01 of "node[01-03,7],gpu5". Throws UsageError with the list
/// if it does not begin in Slurm's notation; what follows the first host is not checked.
FirstHost first_host(const std::string& list);

/// Returns the count of a node, counted from 0: of "4(x2),3" it is 4 for nodes 0 and 1, and
/// 3 for node 2; -1 if there are fewer nodes. Throws UsageError with the list if a count
/// up to this node is not in Slurm's notation. REQUIRES: node >= 0.
int task_count(const std::string& list, int node);

}  // namespace mini::dist
