// Every rank keeps all parts, also those that are not reduced to it.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            static_cast<void>(rank);
            parameter.set_grad(part.gradients.gradient(slot));
        }
    bucket.buffer.free_storage();
