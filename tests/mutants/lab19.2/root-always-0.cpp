// Rank 0 is the root of every broadcast: it has only its own new values.
// region: libmini/parallel/zero.cpp 1
    if (group.rank() == owner)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]], 1.0f);
    shard.work = group.broadcast_async(shard.values.buffer(), 0);
