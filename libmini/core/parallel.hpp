// A small thread pool, and the one loop that runs on it.
//
// Own threads rather than OpenMP: the thread sanitizer cannot follow OpenMP's runtime,
// and its threads do not survive fork. The pool is made at first use, and again in a
// forked child.
//
//     parallel_for(10, 4, body)     body(0, 4)   body(4, 8)   body(8, 10)
//     on two threads                caller       helper       the first that is free
//
// Chunks depend on the extent and the grain alone, never on the number of threads: a
// kernel that adds up partial sums chunk by chunk gives the same bits with one thread and
// with sixteen.

#pragma once

#include <cstdint>
#include <functional>

namespace mini {

/// Sets how many threads parallel_for uses, the calling one included
/// (`torch.set_num_threads`). Throws UsageError below 1. Do not call while a parallel_for
/// runs.
void set_num_threads(int count);

/// How many threads parallel_for uses; 1 until set_num_threads says otherwise, since
/// ranks that share a machine should share its cores.
int num_threads();

namespace detail {

/// What parallel_for does when there is more than one chunk.
void run_chunks(int64_t extent, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace detail

/// Calls body(chunk_begin, chunk_end) for the chunks [0, grain), [grain, 2 grain), ... of
/// [0, extent), on several threads, and blocks until all are done. The first exception is
/// rethrown here; chunks not begun by then are left out. Runs inline when there is one
/// chunk or one thread, or inside a body that is itself one of several chunks. Safe to
/// call from several threads at once. Allocates nothing. Throws Error when grain is below
/// 1.
template <typename Body>
void parallel_for(int64_t extent, int64_t grain, const Body& body) {
    if (extent <= grain) {
        if (extent > 0) body(int64_t{0}, extent);
    } else if (extent > 0) {
        detail::run_chunks(extent, grain,
                           std::cref(body));  // a reference: no copy of body
    }
}

}  // namespace mini
