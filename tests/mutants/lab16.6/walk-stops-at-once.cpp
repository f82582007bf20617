// Only the inputs of the last operation are looked at.
    if (output.requires_grad() && !output.is_leaf())
        for (const auto& input : output.autograd_meta()->grad_fn->inputs())
            if (input) seen.insert(input.get());
