// All-gather of short lists of numbers, for checks and reports.

#pragma once

#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// Returns the values of every rank, by rank; blocks until all ranks have called this
/// function. T is float, int64_t or uint8_t. REQUIRES: the same number of values on each
/// rank.
template <typename T>
std::vector<std::vector<T>> all_gather_values(ProcessGroup& group,
                                              const std::vector<T>& values) {
    const Tensor mine = cpu_tensor(values);
    std::vector<Tensor> outputs;
    for (int rank = 0; rank < group.world_size(); ++rank)
        outputs.push_back(mine.new_zeros(mine.shape()));
    group.all_gather(outputs, mine);

    std::vector<std::vector<T>> by_rank;
    for (const Tensor& output : outputs) by_rank.push_back(output.to_vector<T>());
    return by_rank;
}

}  // namespace mini::dist
