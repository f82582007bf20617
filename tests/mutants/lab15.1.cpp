// --- a-wait-forgotten
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

// --- broadcast-on-the-root-only
// Only the root calls the broadcast, which waits for the others.
// region: libmini/parallel/broadcast_coalesced.cpp 1
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
        if (group.rank() == root) {
            for (size_t i = 0; i < views.size(); ++i)
                ops::copy_(views[i], chunk.tensors[i]);
            works.push_back(group.broadcast_async(flats.back(), root));
        } else {
            works.push_back(nullptr);
        }
    }

// --- copies-changed-not-the-tensors
// The received values are written to clones of the tensors.
// region: libmini/parallel/broadcast_coalesced.cpp 2
    for (size_t k = 0; k < chunks.size(); ++k) {
        works[k]->wait();
        if (group.rank() == root) continue;
        const std::vector<Tensor> views = views_of(flats[k], chunks[k]);
        for (size_t i = 0; i < views.size(); ++i) {
            Tensor tensor = ops::clone(chunks[k].tensors[i]);
            ops::copy_(tensor, views[i]);
        }
    }

// --- filled-after-the-start
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

// --- last-broadcast-not-waited-for
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

// --- one-broadcast-per-tensor
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

// --- root-does-not-wait
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

// --- root-is-rank-0
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

// --- waited-for-at-once
// Each broadcast is waited for before the next is started.
// region: libmini/parallel/broadcast_coalesced.cpp 1
    for (const Chunk& chunk : chunks) {
        flats.push_back(chunk.tensors.front().new_empty({chunk.numel}));
        std::vector<Tensor> views = views_of(flats.back(), chunk);
        if (group.rank() == root)
            for (size_t i = 0; i < views.size(); ++i)
                ops::copy_(views[i], chunk.tensors[i]);
        works.push_back(group.broadcast_async(flats.back(), root));
        works.back()->wait();
    }
