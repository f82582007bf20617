// What a rank finds in its environment: torchrun's variables, so that a program started
// by minirun, torchrun or by hand cannot tell the difference.
//
//     RANK LOCAL_RANK ROLE_RANK                    this rank
//     WORLD_SIZE LOCAL_WORLD_SIZE ROLE_WORLD_SIZE  how many there are
//     GROUP_RANK GROUP_WORLD_SIZE                  this node, and how many nodes
//     MASTER_ADDR MASTER_PORT                      where rank 0 serves the store
//     TORCHELASTIC_RUN_ID                          the run, another after each restart
//     TORCHELASTIC_RESTART_COUNT, _MAX_RESTARTS    the how many-th restart, of how many
//     OMP_NUM_THREADS                              1 beside others, unless set already
//     MINI_STORE_COOKIE                            what clients of the store must know
//     MINI_FLIGHT_DIR                              where the flight recorder keeps files
//     MINI_PROGRESS                                bar or plain, unless it is set already

#pragma once

#include <map>
#include <string>

namespace mini::tools {

/// What all ranks of one job share.
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
    std::string role = "default";
    std::string flight_dir = "";  // "": none
    std::string log_name = "";    // the job's, in spite of restarts

    /// Ranks on this node; all nodes have as many.
    int local_size() const { return world_size / nodes; }

    /// The rank of this node's rank `local_rank`.
    int rank(int local_rank) const { return node_rank * local_size() + local_rank; }
};

using Environment = std::map<std::string, std::string>;

/// This process's own environment.
Environment current_environment();

/// What minirun sets for this node's rank `local_rank`, whatever the user has set.
Environment own_variables(const Job& job, int local_rank);

/// `base` with these on top, and with what the user has not set.
Environment rank_environment(Environment base, const Job& job, int local_rank);

}  // namespace mini::tools
