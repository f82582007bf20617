// The data are prepared a second time: an average of float16 is too small.
// region: libmini/distributed/collectives/ring_all_reduce.cpp 1
    prepare_reduce(data, P, op);
    const Combine combine = combine_for(data.dtype, op);
    for (int step = 0; step < P - 1; ++step)
        transport.send_recv(right, chunk(rank - step).bytes, left,
                            chunk(rank - step - 1).bytes, combine);
    finish_reduce(chunk(rank + 1), P, op);
