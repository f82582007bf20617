// There is one all-reduce per parameter after all.
    static_cast<void>(numel);
    average_gradients(parameters, group);
