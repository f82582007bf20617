// --- every-rank-receives-first
// Every rank receives first: no rank sends.
// region: labs/11-collectives/shift.cpp 1
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    transport.recv((rank + P - 1) % P, in);
    transport.send((rank + 1) % P, out);

// --- every-rank-sends-first
// Every rank sends first: with blocking sends none receives.
// region: labs/11-collectives/shift.cpp 1
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    transport.send((rank + 1) % P, out);
    transport.recv((rank + P - 1) % P, in);

// --- naive-answers-too-early
// Each rank is answered as soon as its own buffer has been added.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) {
        transport.recv(rank, data.bytes, combine);
        transport.send(rank, data.bytes);
    }
    finish_reduce(data, P, op);

// --- naive-divides-on-every-rank
// Every rank divides what rank 0 has already divided.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    const Combine combine = combine_for(data.dtype, op);
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
    } else {
        for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
        finish_reduce(data, P, op);
        for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    }
    if (transport.rank() != 0) finish_reduce(data, P, op);

// --- naive-never-divides
// An average is only a sum.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);

// --- naive-on-rank-0-only
// Only rank 0 takes part.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() == 0) {
        const Combine combine = combine_for(data.dtype, op);
        for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
        finish_reduce(data, P, op);
        for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);
    }

// --- naive-overwrites
// Rank 0 receives the buffers into its own, without combining them.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);

// --- naive-prepares-again
// The data are prepared a second time: an average of float16 is too small.
// region: libmini/distributed/collectives/naive_all_reduce.cpp 1
    prepare_reduce(data, P, op);
    if (transport.rank() != 0) {
        transport.send(0, data.bytes);
        transport.recv(0, data.bytes);
        return;
    }
    const Combine combine = combine_for(data.dtype, op);
    for (int rank = 1; rank < P; ++rank) transport.recv(rank, data.bytes, combine);
    finish_reduce(data, P, op);
    for (int rank = 1; rank < P; ++rank) transport.send(rank, data.bytes);

// --- one-rank-after-another
// Only rank 0 receives first: right, but P turns.
// region: labs/11-collectives/shift.cpp 1
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    if (rank != 0) {
        transport.send((rank + 1) % P, out);
        transport.recv((rank + P - 1) % P, in);
    } else {
        transport.recv((rank + P - 1) % P, in);
        transport.send((rank + 1) % P, out);
    }

// --- one-rank-forgotten
// One rank sends to itself.
// region: labs/11-collectives/shift.cpp 1
    const int right = (rank + 1) % P;
    const int left = (rank + P - 1) % P;
    if (rank % 2 == 0) {
        transport.send(right, out);
        transport.recv(left, in);
    } else {
        transport.recv(left, in);
        transport.send(right, out);
    }

// --- shift-by-send-recv
// Both at once, by the call that the task is to do without.
// region: labs/11-collectives/shift.cpp 1
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    transport.send_recv((rank + 1) % P, out, (rank + P - 1) % P, in);

// --- shifted-to-the-left
// The data goes to the left.
// region: labs/11-collectives/shift.cpp 1
    if (P == 1) {
        std::ranges::copy(out, in.begin());
        return;
    }
    const int right = (rank + P - 1) % P;
    const int left = (rank + 1) % P;
    if (rank % 2 == 0) {
        transport.send(right, out);
        transport.recv(left, in);
    } else {
        transport.recv(left, in);
        transport.send(right, out);
    }
