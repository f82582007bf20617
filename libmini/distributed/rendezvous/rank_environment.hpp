// The environment variables of a rank. minirun sets the same variables as torchrun, so
// that a program can be started by minirun, by torchrun or by hand.
//
//     RANK LOCAL_RANK ROLE_RANK ROLE_NAME          this rank
//     WORLD_SIZE LOCAL_WORLD_SIZE ROLE_WORLD_SIZE  number of ranks
//     GROUP_RANK GROUP_WORLD_SIZE                  this node, number of nodes
//     MASTER_ADDR MASTER_PORT                      address of the store
//     TORCHELASTIC_USE_AGENT_STORE                 False: rank 0 serves the store
//     TORCHELASTIC_RUN_ID                          id of the run, changed by each restart
//     TORCHELASTIC_RESTART_COUNT, _MAX_RESTARTS    restarts so far, maximum
//     OMP_NUM_THREADS                              if unset: 1, with several ranks
//     MINI_STORE_COOKIE                            secret that the store's clients send
//     MINI_FLIGHT_DIR                              folder of the flight recorder's files
//     MINI_PROGRESS                                if unset: bar or plain

#pragma once

#include <map>
#include <string>

namespace mini::dist {

/// The properties that all ranks of one job share.
struct Job {
    int world_size = 1;
    std::string master_addr;
    int master_port = 0;
    std::string run_id;
    std::string cookie;
    std::string progress = "plain";  // or "bar"
    int nodes = 1;
    int node_rank = 0;
    int restart_count = 0;
    int max_restarts = 0;
    std::string flight_dir = "";  // "": no flight recorder
    std::string log_name = "";    // the run id before any restart; names the log folder

    /// Returns the number of ranks on each node.
    int local_size() const { return world_size / nodes; }

    /// Returns the global rank of local rank `local_rank` of this node.
    int rank(int local_rank) const { return node_rank * local_size() + local_rank; }
};

/// Variables by name.
using Environment = std::map<std::string, std::string>;

/// Returns this process's environment.
Environment current_environment();

/// Returns the variables that minirun always sets for local rank `local_rank`, even if
/// the user has set them: all variables of the table above except OMP_NUM_THREADS and
/// MINI_PROGRESS. Contains MINI_FLIGHT_DIR only if `job.flight_dir` is not empty. All
/// ranks have the same role: ROLE_RANK equals RANK, and ROLE_WORLD_SIZE equals
/// WORLD_SIZE.
Environment own_variables(const Job& job, int local_rank);

/// Returns the complete environment of local rank `local_rank`: own_variables(), and the
/// variables of `base` (the user's environment) that own_variables() does not set. Adds
/// two variables if the user has not set them: OMP_NUM_THREADS=1 if this node has several
/// ranks, and MINI_PROGRESS with the value of job.progress.
Environment rank_environment(Environment base, const Job& job, int local_rank);

}  // namespace mini::dist
