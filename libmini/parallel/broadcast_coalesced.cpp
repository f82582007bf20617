#include "libmini/parallel/broadcast_coalesced.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/parallel/bucket.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

// Tensors of one dtype that travel in one flat tensor.
struct Chunk {
    std::vector<Tensor> tensors;  // detached: writing to them is not recorded
    int64_t numel = 0;            // of all tensors together
};

// Divides `tensors` into chunks as if they were gradients: see compute_bucket_assignment.
std::vector<Chunk> chunks_of(const std::vector<Tensor>& tensors, int64_t chunk_bytes) {
    std::vector<Chunk> chunks;
    for (const auto& indices : compute_bucket_assignment(tensors, {chunk_bytes})) {
        Chunk& chunk = chunks.emplace_back();
        for (const size_t index : indices) {
            chunk.tensors.push_back(tensors[index].detach());
            chunk.numel += tensors[index].numel();
        }
    }
    return chunks;
}

}  // namespace

std::vector<Tensor> views_of(const Tensor& flat, const std::vector<Tensor>& tensors) {
    std::vector<Tensor> views;
    int64_t offset = 0;
    for (const Tensor& tensor : tensors) {
        views.push_back(
            ops::view(ops::narrow(flat, 0, offset, tensor.numel()), tensor.shape()));
        offset += tensor.numel();
    }
    return views;
}

void broadcast_coalesced(dist::ProcessGroup& group, const std::vector<Tensor>& tensors,
                         int root, int64_t chunk_bytes) {
    const std::vector<Chunk> chunks = chunks_of(tensors, chunk_bytes);
    std::vector<Tensor> flats;            // one per chunk
    std::vector<dist::WorkHandle> works;  // their broadcasts

    // [lab15.1] Start one broadcast per chunk, of the root's values in a flat tensor.
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk.tensors);
        if (group.rank() == root)
            for (size_t i = 0; i < views.size(); ++i)
                ops::copy_(views[i], chunk.tensors[i]);
        works.push_back(group.broadcast_async(flats.back(), root));
    }
    // [lab15.1]

    // [lab15.1] Wait for each broadcast; on the other ranks, copy it to the tensors.
    for (size_t k = 0; k < chunks.size(); ++k) {
        works[k]->wait();
        if (group.rank() == root) continue;
        const std::vector<Tensor> views = views_of(flats[k], chunks[k].tensors);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = chunks[k].tensors[i];
            ops::copy_(tensor, views[i]);
        }
    }
    // [lab15.1]
}

}  // namespace mini::parallel
