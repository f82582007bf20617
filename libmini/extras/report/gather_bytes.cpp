#include "libmini/extras/report/gather_bytes.hpp"

#include <algorithm>

#include "libmini/distributed/group/gather.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::report {

std::vector<std::vector<uint8_t>> gather_bytes(dist::ProcessGroup& group,
                                               std::vector<uint8_t> mine) {
    // Exchange the lengths; then every rank sends as many bytes as the longest has.
    const auto lengths = dist::all_gather_values(
        group, std::vector<int64_t>{static_cast<int64_t>(mine.size())});
    const int64_t longest = std::ranges::max(lengths).front();
    mine.resize(static_cast<size_t>(std::max<int64_t>(longest, 1)));
    const Tensor padded = cpu_tensor(mine);
    std::vector<Tensor> outputs;
    if (group.rank() == 0)
        for (int rank = 0; rank < group.world_size(); ++rank)
            outputs.push_back(padded.new_zeros(padded.shape()));
    group.gather(outputs, padded, 0);

    std::vector<std::vector<uint8_t>> by_rank;
    for (size_t rank = 0; rank < outputs.size(); ++rank) {
        by_rank.push_back(outputs[rank].to_vector<uint8_t>());
        by_rank.back().resize(static_cast<size_t>(lengths[rank].front()));
    }
    return by_rank;
}

}  // namespace mini::report
