#include "libmini/parallel/broadcast_coalesced.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

// Tensors of one dtype that travel in one flat tensor.
struct Chunk {
    std::vector<Tensor> tensors;  // detached: writing to them is not recorded
    int64_t numel = 0;            // of all tensors together
    int64_t bytes = 0;
};

// Divides `tensors` into chunks of one dtype each. A chunk is complete when it has at
// least `chunk_bytes` bytes. The chunks are in the order of their first tensors.
std::vector<Chunk> chunks_of(const std::vector<Tensor>& tensors, int64_t chunk_bytes) {
    if (chunk_bytes < 1)
        throw UsageError(concat("broadcast_coalesced: chunk_bytes is ", chunk_bytes,
                                ", but must be at least 1"));
    std::vector<Chunk> chunks;
    std::map<DType, size_t> incomplete;  // the index in `chunks`, for each dtype
    for (const Tensor& tensor : tensors) {
        const auto [place, is_new] =
            incomplete.try_emplace(tensor.dtype(), chunks.size());
        if (is_new) chunks.emplace_back();
        Chunk& chunk = chunks[place->second];
        chunk.tensors.push_back(tensor.detach());
        chunk.numel += tensor.numel();
        chunk.bytes += static_cast<int64_t>(tensor.bytes());
        if (chunk.bytes >= chunk_bytes) incomplete.erase(place);
    }
    return chunks;
}

// Returns one view of `flat` for each of the chunk's tensors, in the tensor's shape.
std::vector<Tensor> views_of(const Tensor& flat, const Chunk& chunk) {
    std::vector<Tensor> views;
    int64_t offset = 0;
    for (const Tensor& tensor : chunk.tensors) {
        views.push_back(
            ops::view(ops::narrow(flat, 0, offset, tensor.numel()), tensor.shape()));
        offset += tensor.numel();
    }
    return views;
}

}  // namespace

void broadcast_coalesced(dist::ProcessGroup& group, const std::vector<Tensor>& tensors,
                         int root, int64_t chunk_bytes) {
    const std::vector<Chunk> chunks = chunks_of(tensors, chunk_bytes);
    std::vector<Tensor> flats;            // one per chunk
    std::vector<dist::WorkHandle> works;  // their broadcasts

    // [lab15.1] Start one broadcast per chunk, of the root's values in a flat tensor.
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
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
        const std::vector<Tensor> views = views_of(flats[k], chunks[k]);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = chunks[k].tensors[i];
            ops::copy_(tensor, views[i]);
        }
    }
    // [lab15.1]
}

}  // namespace mini::parallel
