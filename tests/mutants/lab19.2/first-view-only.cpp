// Only the first parameter of each owner is copied out of the buffer.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    Tensor parameter = parameters[shard->values.indices().front()];
    ops::copy_(parameter, shard->values.gradient(0));
