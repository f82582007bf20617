#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libmini/parallel/fsdp.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

Tensor find(const nn::NamedTensors& state, const std::string& name) {
    const auto found =
        std::ranges::find(state, name, &nn::NamedTensors::value_type::first);
    return found == state.end() ? Tensor() : found->second;
}

// Returns this rank's shard; throws UsageError unless the old shards are those of a job.
Tensor new_shard(const Unit& unit, const std::vector<Tensor>& old_shards) {
    const auto ranks = static_cast<int>(old_shards.size());
    const int64_t size = shard_numel(unit.numel, ranks);
    for (size_t rank = 0; rank < old_shards.size(); ++rank) {
        const int64_t found = old_shards[rank].defined() ? old_shards[rank].numel() : 0;
        if (found != size)
            throw UsageError("FullyShardedDataParallel: on rank ", unit.group->rank(),
                             " the state of rank ", rank, " of ", ranks, " has ", found,
                             " elements of unit ", unit.text(), ", not ", size,
                             "; pass the states of all its ranks, in order");
    }
    return reshard(old_shards, unit.numel, unit.group->rank(), unit.group->world_size());
}

}  // namespace

Tensor reshard(const std::vector<Tensor>& shards, int64_t numel, int rank, int ranks) {
    const int64_t size = shard_numel(numel, ranks), begin = rank * size;
    const Tensor result = shards.front().new_zeros({size});
    // [lab21.6] Copy the part of each shard that lies in the new one.
    const int64_t end = std::min(begin + size, numel);
    for (size_t i = 0; i < shards.size(); ++i) {
        const int64_t old = shards[i].numel(), offset = static_cast<int64_t>(i) * old;
        const int64_t from = std::max(begin, offset), to = std::min(end, offset + old);
        if (from >= to) continue;
        Tensor part = ops::narrow(result, 0, from - begin, to - from);
        ops::copy_(part, ops::narrow(shards[i].detach(), 0, from - offset, to - from));
    }
    // [lab21.6]
    return result;
}

nn::NamedTensors FullyShardedDataParallel::full_state_dict(int to) {
    nn::NamedTensors state = module_.state_dict();
    const bool is_receiver = group_->rank() == to;
    // [lab21.6] Gather one unit after the other, and copy on rank `to` what is in it.
    for (Unit& unit : units_) {
        unit.finish_gather();
        for (auto& [name, tensor] : state)
            if (is_receiver && tensor.shares_storage(unit.flat))
                tensor = ops::clone(tensor);
        unit.free();
    }
    // [lab21.6]
    if (!is_receiver) return {};
    for (const Tensor& buffer : module_.buffers())
        for (auto& [name, tensor] : state)
            if (tensor.shares_storage(buffer)) tensor = ops::clone(tensor);
    return state;
}

void FullyShardedDataParallel::load_full_state_dict(const nn::NamedTensors& state) {
    for (Unit& unit : units_) {
        unit.flat.allocate_storage();
        ops::fill_(unit.flat, 0.0f);
    }
    try {
        module_.load_state_dict(state);
    } catch (...) {
        for (const Unit& unit : units_) unit.flat.free_storage();
        throw;
    }
    for (const Unit& unit : units_) {
        Tensor shard = unit.shard.detach();
        ops::copy_(shard, unit.own_part(unit.flat));
        unit.flat.free_storage();
    }
}

nn::NamedTensors FullyShardedDataParallel::sharded_state_dict() const {
    nn::NamedTensors state;
    for (const Unit& unit : units_) state.emplace_back(unit.name, unit.shard.detach());
    for (const auto& buffer : module_.named_buffers()) state.push_back(buffer);
    return state;
}

void FullyShardedDataParallel::load_sharded_state_dict(
    const std::vector<nn::NamedTensors>& by_rank) {
    std::vector<std::pair<Tensor, Tensor>> copies;  // to, from
    for (const Unit& unit : units_) {
        std::vector<Tensor> shards;
        for (const auto& state : by_rank) shards.push_back(find(state, unit.name));
        copies.emplace_back(unit.shard.detach(), new_shard(unit, shards));
    }
    for (const auto& [name, buffer] : module_.named_buffers())
        copies.emplace_back(buffer, find(by_rank.at(0), name));
    for (auto& [to, from] : copies) ops::copy_(to, from);
}

optim::OptimizerState FullyShardedDataParallel::reshard_optimizer_state(
    const std::vector<optim::OptimizerState>& by_rank) const {
    optim::OptimizerState state{.tensors = {}, .numbers = by_rank.at(0).numbers};
    for (size_t index = 0; index < units_.size(); ++index)
        for (const auto& [name, tensor] : by_rank[0].tensors) {
            if (!name.starts_with(optim::state_name(index, ""))) continue;
            std::vector<Tensor> shards;
            for (const auto& each : by_rank) shards.push_back(each.tensors.at(name));
            state.tensors[name] = new_shard(units_[index], shards);
        }
    return state;
}

}  // namespace mini::parallel
