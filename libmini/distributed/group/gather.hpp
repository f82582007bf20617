// All-gather of short lists of numbers, and of texts, for checks and reports.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
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

/// Returns the text of every rank, by rank; blocks until all ranks have called this
/// function. Each rank's text may have another length.
inline std::vector<std::string> all_gather_texts(ProcessGroup& group,
                                                 const std::string& text) {
    const auto lengths = all_gather_values<int64_t>(group, {std::ssize(text)});
    std::vector<uint8_t> bytes(text.begin(), text.end());
    bytes.resize(static_cast<size_t>(std::ranges::max(lengths).front()));

    std::vector<std::string> texts;
    for (const std::vector<uint8_t>& padded : all_gather_values(group, bytes)) {
        const int64_t length = lengths[texts.size()].front();
        texts.emplace_back(padded.begin(), padded.begin() + length);
    }
    return texts;
}

}  // namespace mini::dist
