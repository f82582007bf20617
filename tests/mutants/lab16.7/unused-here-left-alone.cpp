// A rank that has not used a parameter keeps its own gradient, and the replicas part.
    static_cast<void>(use);
