// Each tensor is sent by a broadcast of its own; the flat tensors are not used.
// region: libmini/parallel/broadcast_coalesced.cpp 1
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
        dist::WorkHandle last;
        for (size_t i = 0; i < views.size(); ++i) {
            if (group.rank() == root) ops::copy_(views[i], chunk.tensors[i]);
            last = group.broadcast_async(views[i], root);
            if (i + 1 < views.size()) last->wait();
        }
        works.push_back(last);
    }
