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
