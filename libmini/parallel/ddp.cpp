#include "libmini/parallel/ddp.hpp"

#include <algorithm>

#include "libmini/autograd/node.hpp"
#include "libmini/dist/default_group.hpp"
#include "libmini/dist/gather.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

constexpr size_t kMostDims = 7;
constexpr size_t kRow =
    kMostDims + 1;  // numbers that describe one shape: dimensions, sizes

nn::NamedTensors trainable_parameters(const nn::Module& module) {
    nn::NamedTensors parameters = module.named_parameters();
    std::erase_if(parameters,
                  [](const auto& entry) { return !entry.second.requires_grad(); });
    if (parameters.empty())
        throw UsageError(
            "DistributedDataParallel: no parameter of the module requires grad");
    return parameters;
}

std::vector<int64_t> describe_shape(const Shape& shape) {
    MINI_CHECK(shape.size() <= kMostDims,
               "DistributedDataParallel: a parameter of shape ", shape, " has more than ",
               kMostDims, " dimensions");
    std::vector<int64_t> row(kRow);
    row[0] = static_cast<int64_t>(shape.size());
    std::ranges::copy(shape, row.begin() + 1);
    return row;
}

Shape shape_of_row(const std::vector<int64_t>& rows, size_t parameter) {
    const auto row = rows.begin() + static_cast<int64_t>(parameter * kRow);
    return Shape(row + 1, row + 1 + *row);
}

// All ranks see the description of all ranks, so all of them throw, and the same.
void check_same_parameters(dist::ProcessGroup& group,
                           const nn::NamedTensors& parameters) {
    const std::vector<int64_t> count{static_cast<int64_t>(parameters.size())};
    const auto counts = dist::all_gather_values(group, count);
    for (size_t rank = 1; rank < counts.size(); ++rank)
        MINI_CHECK(counts[rank] == counts[0], "DistributedDataParallel: rank 0 has ",
                   counts[0][0], " parameters that require grad, but rank ", rank,
                   " has ", counts[rank][0], "; every rank must build the same module");

    std::vector<int64_t> mine;
    for (const auto& [name, parameter] : parameters)
        std::ranges::copy(describe_shape(parameter.shape()), std::back_inserter(mine));
    const auto rows = dist::all_gather_values(group, mine);
    for (size_t rank = 1; rank < rows.size(); ++rank)
        for (size_t i = 0; i < parameters.size(); ++i)
            MINI_CHECK(shape_of_row(rows[rank], i) == shape_of_row(rows[0], i),
                       "DistributedDataParallel: parameter ", i, " (here ",
                       parameters[i].first, ") is ", shape_of_row(rows[0], i),
                       " on rank 0, but ", shape_of_row(rows[rank], i), " on rank ",
                       rank);
}

void copy_state_from_rank_0(dist::ProcessGroup& group, const nn::Module& module) {
    std::vector<std::shared_ptr<dist::Work>> under_way;
    nn::NamedTensors state = module.state_dict();
    for (auto& [name, tensor] : state)
        under_way.push_back(group.broadcast_async(tensor, 0));
    for (const auto& work : under_way) work->wait();
    for (auto& [name, tensor] : state) tensor.bump_version();
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::Module& module,
                                                 const DDPOptions& options)
    : module_(module),
      group_(options.process_group ? options.process_group : dist::default_group()) {
    register_module("module", module);
    nn::NamedTensors parameters = trainable_parameters(module);
    check_same_parameters(*group_, parameters);
    copy_state_from_rank_0(*group_, module);
    reducer_ = std::make_unique<Reducer>(
        std::move(parameters),
        std::vector<int64_t>{options.first_bucket_bytes, options.bucket_cap_bytes},
        group_);
}

Tensor DistributedDataParallel::forward(const Tensor& x) {
    if (is_grad_enabled() && sync_) reducer_->prepare_for_backward();
    return module_(x);
}

}  // namespace mini::parallel
