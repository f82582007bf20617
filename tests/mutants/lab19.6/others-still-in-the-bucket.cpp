// Gradients of other ranks stay views of the bucket, whose memory is gone.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            if (part.owner == rank) parameter.set_grad(part.gradients.gradient(slot));
        }
    bucket.buffer.free_storage();
