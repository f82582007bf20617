// Raw TCP sockets: what an all-reduce over TCP is compared with.

#pragma once

#include <cstdint>

namespace bench {

/// Returns the seconds in which two processes of this host send `bytes` bytes to each
/// other over one connection, both at the same time, each with a thread that sends and a
/// thread that receives: the median over exchanges for about `seconds`. A ring of two
/// ranks moves as much for an all-reduce of `bytes` bytes. Throws Error if a socket
/// fails. REQUIRES: no other thread is running.
double raw_exchange_seconds(int64_t bytes, double seconds);

}  // namespace bench
