#include "libmini/parallel/reduce_scatter_hook.hpp"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

#include "libmini/parallel/bucket.hpp"

// [lab19 file]
namespace mini::parallel {

FinishHook reduce_to_owners(const GradBucket& bucket, const std::vector<int>& owners,
                            dist::ProcessGroup& group) {
    // One buffer for each owner, and its reduction.
    using Parts = std::vector<std::pair<Bucket, dist::WorkHandle>>;
    const auto in_flight = std::make_shared<Parts>();
    // [lab19.5] Copy each owner's gradients to one buffer, and reduce it to the owner.
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> indices;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) indices.push_back(k);
        if (indices.empty()) continue;

        Bucket part(indices, bucket.parameters);
        for (size_t slot = 0; slot < indices.size(); ++slot) {
            part.copy_gradient(slot, bucket.gradients[indices[slot]], 1.0f);
            Tensor parameter = bucket.parameters[indices[slot]];
            parameter.set_grad(owner == group.rank() ? part.gradient(slot) : Tensor());
        }
        auto work = group.reduce_async(part.buffer(), owner, dist::ReduceOp::kAvg);
        in_flight->emplace_back(std::move(part), std::move(work));
    }
    // [lab19.5]
    return [in_flight] {
        // [lab19.5] Wait for each reduction, then remove the parts.
        for (const auto& [part, work] : *in_flight) work->wait();
        in_flight->clear();
        // [lab19.5]
    };
}

CommHook reduce_scatter_hook(const ZeroRedundancyOptimizer& optimizer) {
    std::unordered_map<const void*, int> owner_by_id;
    for (size_t i = 0; i < optimizer.parameters().size(); ++i)
        owner_by_id[optimizer.parameters()[i].id()] = optimizer.owners()[i];

    // Waits for the bucket that was launched last.
    const auto finish = std::make_shared<FinishHook>([] {});
    return [owner_by_id, finish](const GradBucket& bucket,
                                 dist::ProcessGroup& group) -> FinishHook {
        std::vector<int> owners;
        for (const Tensor& parameter : bucket.parameters)
            owners.push_back(owner_by_id.at(parameter.id()));
        // [lab19.6] Finish the bucket in flight, start this one, and free its memory.
        (*finish)();
        *finish = reduce_to_owners(bucket, owners, group);
        bucket.buffer.free_storage();
        return *finish;
        // [lab19.6]
    };
}

}  // namespace mini::parallel
// [lab19 file]
