// The buckets keep their memory: nothing is saved.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            parameter.set_grad(part.owner == rank ? part.gradients.gradient(slot)
                                                  : Tensor());
        }
    
