// Gradients of other ranks are zeros, which take the memory that was to be saved.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            parameter.set_grad(part.owner == rank ? part.gradients.gradient(slot)
                                                  : parameter.new_zeros(parameter.shape()));
        }
    bucket.buffer.free_storage();
