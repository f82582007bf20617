// The values are copied before they have arrived.
// region: libmini/parallel/broadcast_coalesced.cpp 2
    for (size_t k = 0; k < chunks.size(); ++k) {
        if (group.rank() == root) continue;
        const std::vector<Tensor> views = views_of(flats[k], chunks[k]);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = chunks[k].tensors[i];
            ops::copy_(tensor, views[i]);
        }
    }
