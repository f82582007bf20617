// The root fills the tensor while its broadcast may already read it.
// region: libmini/parallel/broadcast_coalesced.cpp 1
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        works.push_back(group.broadcast_async(flats.back(), root));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
        if (group.rank() == root)
            for (size_t i = 0; i < views.size(); ++i)
                ops::copy_(views[i], chunk.tensors[i]);
    }
