// A small thread pool, and parallel_for, the loop that runs on it.
//
// The pool does not use OpenMP, because ThreadSanitizer does not understand OpenMP's
// runtime, and OpenMP's threads do not survive fork. The pool is created at first use,
// also in a forked child process.
//
//     parallel_for(10, 4, body)     body(0, 4)   body(4, 8)   body(8, 10)
//     on two threads                caller       helper       the first idle thread
//
// The chunks depend only on the extent and the grain, never on the number of threads: a
// kernel that adds partial sums chunk by chunk gives bitwise identical results with 1
// thread and with 16.

#pragma once

#include <cstdint>
#include <functional>

namespace mini {

/// Sets the number of threads of parallel_for, including the calling thread
/// (`torch.set_num_threads`). Throws UsageError if count is below 1. Do not call while a
/// parallel_for runs.
void set_num_threads(int count);

/// Returns the number of threads of parallel_for. The default is 1, because the ranks on
/// a machine share its cores.
int num_threads();

namespace detail {

/// Implements parallel_for for an extent of more than one chunk.
void run_chunks(int64_t extent, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace detail

/// Calls body(chunk_begin, chunk_end) for the chunks [0, grain), [grain, 2 grain), ... of
/// [0, extent), on several threads, and blocks until all calls have returned. Rethrows
/// the first exception of a call; chunks that have not started by then are skipped. Uses
/// only the calling thread if there is only one chunk or one thread, or if it is called
/// from the body of another parallel_for with several chunks. Thread-safe. Does not copy
/// `body`. Throws Error if grain is below 1.
template <typename Body>
void parallel_for(int64_t extent, int64_t grain, const Body& body) {
    if (extent <= grain) {
        if (extent > 0) body(int64_t{0}, extent);
    } else if (extent > 0) {
        detail::run_chunks(extent, grain,
                           std::cref(body));  // by reference: body is not copied
    }
}

}  // namespace mini
