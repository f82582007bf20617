// The errors are in seconds: the largest messages decide alone.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    sums.mm += one.messages * one.messages;
    sums.mb += one.messages * one.bytes;
    sums.bb += one.bytes * one.bytes;
    sums.m += one.messages * one.seconds;
    sums.b += one.bytes * one.seconds;
}
