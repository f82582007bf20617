#include "libmini/tools/minirun/environment.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::tools {

Environment current_environment() {
    Environment variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const size_t equals = text.find('=');
        if (equals != std::string::npos)
            variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return variables;
}

Environment own_variables(const Job& job, int local_rank) {
    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world = std::to_string(job.world_size);
    Environment variables = {
        // This rank, and the number of ranks.
        {"RANK", rank},
        {"LOCAL_RANK", std::to_string(local_rank)},
        {"ROLE_RANK", rank},
        {"WORLD_SIZE", world},
        {"LOCAL_WORLD_SIZE", std::to_string(job.local_size())},
        {"ROLE_WORLD_SIZE", world},
        {"GROUP_RANK", std::to_string(job.node_rank)},
        {"GROUP_WORLD_SIZE", std::to_string(job.nodes)},
        {"ROLE_NAME", job.role},

        // The address of the store, and the secret that its clients send.
        {"MASTER_ADDR", job.master_addr},
        {"MASTER_PORT", std::to_string(job.master_port)},
        {"MINI_STORE_COOKIE", job.cookie},

        // torchrun's description of the job. USE_AGENT_STORE is False because rank 0, not
        // the launcher, serves the store.
        {"TORCHELASTIC_RUN_ID", job.run_id},
        {"TORCHELASTIC_RESTART_COUNT", std::to_string(job.restart_count)},
        {"TORCHELASTIC_MAX_RESTARTS", std::to_string(job.max_restarts)},
        {"TORCHELASTIC_USE_AGENT_STORE", "False"},
    };
    if (!job.flight_dir.empty()) variables["MINI_FLIGHT_DIR"] = job.flight_dir;
    return variables;
}

Environment rank_environment(Environment base, const Job& job, int local_rank) {
    // The user's values of these two variables win, and minirun's values of all others.
    Environment variables = own_variables(job, local_rank);
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    variables.merge(base);
    return variables;
}

}  // namespace mini::tools
