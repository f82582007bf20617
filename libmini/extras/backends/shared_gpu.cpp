#include <map>
#include <string>
#include <vector>

#include "libmini/core/text.hpp"
#include "libmini/extras/backends/nccl.hpp"

namespace mini::dist {

std::string shared_gpu_fault(const std::vector<std::string>& gpus,
                             const std::string& version) {
    std::map<std::string, std::vector<int>> users;
    for (size_t rank = 0; rank < gpus.size(); ++rank)
        users[gpus[rank]].push_back(static_cast<int>(rank));
    for (const auto& [gpu, ranks] : users)
        if (ranks.size() > 1)
            return concat(
                "GPU ", gpu, " is used by ", rank_list(ranks), ": NCCL ", version,
                " cannot have several ranks on one GPU; start one rank per GPU, or "
                "use backend ring");
    return "";
}

}  // namespace mini::dist
