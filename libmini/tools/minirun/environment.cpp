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

Environment rank_environment(Environment base, const Job& job, int rank) {
    const std::string own = std::to_string(rank), world = std::to_string(job.world_size);
    Environment variables = {
        // Who this rank is among how many; on one machine, local and global agree.
        {"RANK", own},
        {"LOCAL_RANK", own},
        {"ROLE_RANK", own},
        {"WORLD_SIZE", world},
        {"LOCAL_WORLD_SIZE", world},
        {"ROLE_WORLD_SIZE", world},
        {"GROUP_RANK", "0"},
        {"GROUP_WORLD_SIZE", "1"},
        {"ROLE_NAME", "default"},

        // Where the ranks meet, and the secret by which they know each other.
        {"MASTER_ADDR", job.master_addr},
        {"MASTER_PORT", std::to_string(job.master_port)},
        {"MINI_STORE_COOKIE", job.cookie},

        // The job, as torchrun names it. False: rank 0, not the launcher, serves the
        // store.
        {"TORCHELASTIC_RUN_ID", job.run_id},
        {"TORCHELASTIC_RESTART_COUNT", "0"},
        {"TORCHELASTIC_MAX_RESTARTS", "0"},
        {"TORCHELASTIC_USE_AGENT_STORE", "False"},
    };

    // Let the user's own choice win over these two, and the above over everything else.
    base.try_emplace("OMP_NUM_THREADS", "1");
    base.try_emplace("MINI_PROGRESS", job.progress);
    variables.merge(base);
    return variables;
}

std::string random_hex(int digits) {
    std::vector<unsigned char> bytes(static_cast<size_t>(digits));
    const auto wanted =
        static_cast<ssize_t>(bytes.size());  // at most 256: never cut short
    if (getrandom(bytes.data(), bytes.size(), 0) != wanted)
        throw Error(system_message("getrandom", errno));

    std::string text;
    for (const unsigned char byte : bytes) text += "0123456789abcdef"[byte % 16];
    return text;
}

}  // namespace mini::tools
