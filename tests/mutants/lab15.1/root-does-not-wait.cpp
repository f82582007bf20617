// The root skips its own waits: it may destroy the flat tensors while they are sent.
// region: libmini/parallel/broadcast_coalesced.cpp 2
    for (size_t k = 0; k < chunks.size(); ++k) {
        if (group.rank() == root) continue;
        works[k]->wait();
        const std::vector<Tensor> views = views_of(flats[k], chunks[k]);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = chunks[k].tensors[i];
            ops::copy_(tensor, views[i]);
        }
    }
