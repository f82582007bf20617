// Named streams: one generator for each use of random numbers, so that another batch
// order, another layer or another dropout rate changes nothing but itself.
//
//     default            all names lead to default_generator(): PyTorch's order of draws
//     separate_streams   kInitialisation  kDataOrder  kDropout      one generator each,
//                              seeded from one seed, by name
//
// Each thread has its own streams, as it has its own default generator.
//
// A generator starts from 32 bits, so what matters is that those differ. A stream's 32
// bits are a one-to-one mix of seed + name * 2^30: for seeds below 2^30 no two (seed,
// name) pairs share a sequence, and no two names of one seed ever do. Larger seeds may
// meet by chance, one pair in 2^32.

#pragma once

#include <cstdint>

#include "libmini/random/random.hpp"

namespace mini {

/// What random numbers are for. At most four names, or the promise above breaks.
enum class Stream { kInitialisation, kDataOrder, kDropout };

/// The generator that `stream` draws from on this thread: default_generator(), or after
/// separate_streams one of its own. The reference holds until the next separate_streams
/// or join_streams.
Generator& generator_of(Stream stream);

/// From here on gives every stream of this thread its own generator, its seed made of
/// `seed` and the stream's name, its rounding and version those of the default generator,
/// which is left as it is. Called again, restarts all streams.
void separate_streams(uint64_t seed);

/// From here on all streams of this thread draw from default_generator() again.
void join_streams();

}  // namespace mini
