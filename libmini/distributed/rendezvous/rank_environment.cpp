#include "libmini/distributed/rendezvous/rank_environment.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "libmini/core/error.hpp"

namespace mini::dist {

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
    Environment variables = {
        {"ROLE_NAME", "default"},

        // The address of the store, and the secret that the store's clients send.
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

    const std::string rank = std::to_string(job.rank(local_rank));
    const std::string world_size = std::to_string(job.world_size);
    variables["RANK"] = rank;
    variables["LOCAL_RANK"] = std::to_string(local_rank);
    variables["ROLE_RANK"] = rank;
    variables["WORLD_SIZE"] = world_size;
    variables["LOCAL_WORLD_SIZE"] = std::to_string(job.local_size());
    variables["ROLE_WORLD_SIZE"] = world_size;
    variables["GROUP_RANK"] = std::to_string(job.node_rank);
    variables["GROUP_WORLD_SIZE"] = std::to_string(job.nodes);
    return variables;
}

Environment rank_environment(Environment base, const Job& job, int local_rank) {
    if (job.local_size() > 1) base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    Environment variables = own_variables(job, local_rank);
    variables.merge(base);  // adds only the names that variables lacks
    return variables;
}

}  // namespace mini::dist
