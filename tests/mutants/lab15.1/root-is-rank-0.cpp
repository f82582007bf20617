// Rank 0 packs and sends its values, whatever the root is.
// region: libmini/parallel/broadcast_coalesced.cpp 1
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
        if (group.rank() == 0)
            for (size_t i = 0; i < views.size(); ++i)
                ops::copy_(views[i], chunk.tensors[i]);
        works.push_back(group.broadcast_async(flats.back(), 0));
    }
