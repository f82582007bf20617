// Named streams: one generator for each use of random numbers. A change of the batch
// order, a layer or the dropout rate then does not change the other random numbers.
//
//     default            all streams are default_generator(): PyTorch's order of draws
//     separate_streams   kInitialisation, kDataOrder and kDropout have one generator
//                        each, seeded from one seed and the stream's name
//
// Each thread has its own streams, as it has its own default generator.
//
// A generator is seeded with 32 bits, so the streams need different 32-bit seeds. A
// stream's seed is a bijective hash of seed + name * 2^30. If all seeds are below 2^30,
// all (seed, name) pairs have different sequences. The streams of one seed always have
// different sequences. Larger seeds may collide, with a probability of 2^-32 per pair.

#pragma once

#include <cstdint>

#include "libmini/random/random.hpp"

namespace mini {

/// The uses of random numbers, at most four: a fifth would have the seed of the first.
enum class Stream { kInitialisation, kDataOrder, kDropout };

/// Returns the generator of `stream` on this thread: default_generator(), or, after
/// separate_streams, the stream's own generator. The reference is valid until the next
/// call of separate_streams or join_streams.
Generator& generator_of(Stream stream);

/// Gives every stream of this thread its own generator, seeded from `seed` and the
/// stream's name, with the rounding and version of the default generator. Does not change
/// the default generator. A second call restarts all streams.
void separate_streams(uint64_t seed);

/// Makes all streams of this thread use default_generator() again.
void join_streams();

}  // namespace mini
