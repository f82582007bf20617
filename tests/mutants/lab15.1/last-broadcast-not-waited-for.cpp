// The loop that waits ends one chunk too early.
// region: libmini/parallel/broadcast_coalesced.cpp 2
    for (size_t k = 0; k + 1 < chunks.size(); ++k) {
        works[k]->wait();
        if (group.rank() == root) continue;
        const std::vector<Tensor> views = views_of(flats[k], chunks[k]);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = chunks[k].tensors[i];
            ops::copy_(tensor, views[i]);
        }
    }
