// Each rank makes buckets by the order of its own gradients.
    return order_;
