// All ranks take rank 0's gradients.
    static_cast<void>(share);
    for (size_t i = 0; i < parameters.size(); ++i)
        group.broadcast(gradient_of(parameters, i, group.rank()), 0);
