// A rank that has not used a parameter keeps its own gradient, and the replicas part.
// region: libmini/parallel/reducer.cpp
    static_cast<void>(use);
