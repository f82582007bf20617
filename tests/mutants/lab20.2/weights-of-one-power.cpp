// The weights are 1 / seconds, not their squares.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    const double weight = 1 / one.seconds;
    sums.mm += weight * one.messages * one.messages;
    sums.mb += weight * one.messages * one.bytes;
    sums.bb += weight * one.bytes * one.bytes;
    sums.m += one.messages;
    sums.b += one.bytes;
}
