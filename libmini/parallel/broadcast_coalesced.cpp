#include "libmini/parallel/broadcast_coalesced.hpp"

#include <cstdint>

#include "libmini/parallel/bucket.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

void broadcast_coalesced(dist::ProcessGroup& group, const std::vector<Tensor>& tensors,
                         int root, int64_t chunk_bytes) {
    // Start one broadcast per chunk.
    std::vector<Bucket> chunks;
    std::vector<dist::WorkHandle> works;
    for (auto& indices : compute_bucket_assignment(tensors, {chunk_bytes})) {
        Bucket& chunk = chunks.emplace_back(std::move(indices), tensors);
        if (group.rank() == root)
            for (size_t slot = 0; slot < chunk.indices().size(); ++slot) {
                Tensor to = chunk.gradient(slot);
                ops::copy_(to, tensors[chunk.indices()[slot]].detach());
            }
        works.push_back(group.broadcast_async(chunk.buffer(), root));
    }

    // Copy the received values to the tensors.
    for (size_t i = 0; i < chunks.size(); ++i) {
        works[i]->wait();
        if (group.rank() == root) continue;
        for (size_t slot = 0; slot < chunks[i].indices().size(); ++slot) {
            Tensor to = tensors[chunks[i].indices()[slot]].detach();
            ops::copy_(to, chunks[i].gradient(slot));
        }
    }
}

}  // namespace mini::parallel
