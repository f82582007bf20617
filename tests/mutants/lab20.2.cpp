// --- alpha-never-negative
// A negative alpha is hidden, and with it a model that does not fit.
// region: libmini/extras/scaling/link_fit.cpp 2
const double determinant = sums.mm * sums.bb - sums.mb * sums.mb;
return {.alpha = std::max(0.0, (sums.m * sums.bb - sums.b * sums.mb) / determinant),
        .beta = (sums.b * sums.mm - sums.m * sums.mb) / determinant};

// --- determinant-with-a-plus
// The determinant adds the two products.
// region: libmini/extras/scaling/link_fit.cpp 2
const double determinant = sums.mm * sums.bb + sums.mb * sums.mb;
return {.alpha = (sums.m * sums.bb - sums.b * sums.mb) / determinant,
        .beta = (sums.b * sums.mm - sums.m * sums.mb) / determinant};

// --- each-alone
// Each of the two is fitted as if the other were 0.
// region: libmini/extras/scaling/link_fit.cpp 2
return {.alpha = sums.m / sums.mm, .beta = sums.b / sums.bb};

// --- no-alpha
// A line through the origin: the delay is in the rate.
// region: libmini/extras/scaling/link_fit.cpp 2
return {.alpha = 0, .beta = sums.b / sums.bb};

// --- one-message-each
// Every measurement counts as one message.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    const double m = 1 / one.seconds, b = one.bytes / one.seconds;
    sums.mm += m * m;
    sums.mb += m * b;
    sums.bb += b * b;
    sums.m += m;
    sums.b += b;
}

// --- right-side-in-seconds
// The sums of the right side are not divided by the times.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    const double m = one.messages / one.seconds, b = one.bytes / one.seconds;
    sums.mm += m * m;
    sums.mb += m * b;
    sums.bb += b * b;
    sums.m += one.messages;
    sums.b += one.bytes;
}

// --- squares-of-seconds
// The errors are in seconds: the largest messages decide alone.
// region: libmini/extras/scaling/link_fit.cpp 1
for (const Measurement& one : measurements) {
    sums.mm += one.messages * one.messages;
    sums.mb += one.messages * one.bytes;
    sums.bb += one.bytes * one.bytes;
    sums.m += one.messages * one.seconds;
    sums.b += one.bytes * one.seconds;
}

// --- weights-of-one-power
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
