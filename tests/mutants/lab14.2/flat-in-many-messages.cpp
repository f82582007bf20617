// There is one all-reduce a parameter after all.
    static_cast<void>(numel);
    average_gradients(parameters, group);
