#include "libmini/parallel/reduce_scatter_hook.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

namespace mini::parallel {

std::vector<GradientPart> start_reductions(const GradBucket& bucket,
                                           const std::vector<int>& owners,
                                           dist::ProcessGroup& group) {
    std::vector<GradientPart> parts;
    // [lab19.5] Copy each owner's gradients to one buffer, and reduce it to the owner.
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;

        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[positions[slot]], 1.0f);
        part.work =
            group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kAvg);
        parts.push_back(std::move(part));
    }
    // [lab19.5]
    return parts;
}

void finish_reductions(std::vector<GradientPart>& parts) {
    // [lab19.5] Wait for each reduction, then remove the parts.
    for (const GradientPart& part : parts) part.work->wait();
    parts.clear();
    // [lab19.5]
}

void keep_own_gradients(const std::vector<GradientPart>& parts, const GradBucket& bucket,
                        int rank) {
    // [lab19.6] Keep the gradients of this rank's own parameters, and no others.
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            parameter.set_grad(part.owner == rank ? part.gradients.gradient(slot)
                                                  : Tensor());
        }
    bucket.buffer.free_storage();
    // [lab19.6]
}

CommHook reduce_scatter_hook(const ZeroRedundancyOptimizer& optimizer) {
    std::unordered_map<const void*, int> owner_by_id;
    for (size_t i = 0; i < optimizer.parameters().size(); ++i)
        owner_by_id[optimizer.parameters()[i].id()] = optimizer.owners()[i];

    // The parts of the bucket that was launched last, until they are finished.
    const auto in_flight = std::make_shared<std::vector<GradientPart>>();
    return [owner_by_id, in_flight](const GradBucket& bucket,
                                    dist::ProcessGroup& group) -> FinishHook {
        std::vector<int> owners;
        for (const Tensor& parameter : bucket.parameters)
            owners.push_back(owner_by_id.at(parameter.id()));
        // [lab19.6] Finish the bucket in flight, then start this one.
        finish_reductions(*in_flight);
        *in_flight = start_reductions(bucket, owners, group);
        keep_own_gradients(*in_flight, bucket, group.rank());
        return [in_flight] { finish_reductions(*in_flight); };
        // [lab19.6]
    };
}

}  // namespace mini::parallel
