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
