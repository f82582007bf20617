// The owner fills the buffer when its broadcast has already begun.
// region: libmini/parallel/zero.cpp 1
    shard.work = group.broadcast_async(shard.values.buffer(), owner);
    if (group.rank() == owner)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]], 1.0f);
