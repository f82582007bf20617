// What a rank finds in its environment: torchrun's variables, so that a program started
// by minirun, torchrun or by hand cannot tell the difference.
//
//     RANK LOCAL_RANK ROLE_RANK                    this rank
//     WORLD_SIZE LOCAL_WORLD_SIZE ROLE_WORLD_SIZE  how many there are
//     GROUP_RANK GROUP_WORLD_SIZE                  this machine (0), and how many (1)
//     MASTER_ADDR MASTER_PORT                      where rank 0 serves the store
//     TORCHELASTIC_RUN_ID, _RESTART_COUNT, ...     the job; minirun never restarts one
//     OMP_NUM_THREADS                              1, unless it is set already
//     MINI_STORE_COOKIE                            what clients of the store must know
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
    std::string progress;  // "bar" or "plain"
};

using Environment = std::map<std::string, std::string>;

/// This process's own environment.
Environment current_environment();

/// `base` with the variables of rank `rank` of `job` on top.
Environment rank_environment(Environment base, const Job& job, int rank);

/// `digits` random hexadecimal digits from the kernel's generator.
std::string random_hex(int digits);

}  // namespace mini::tools
