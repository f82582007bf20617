// Streams, and the machine that runs their operations.
//
// A call appends an operation to its stream and returns. An operation depends on the
// previous one in its stream and on the operations in its `after`. The legacy default
// stream synchronizes with all blocking streams of its device, in both directions. The
// dependencies have no cycles, since an operation depends only on older ones.
//
//     stream 1   copy -> kernel -> record e ----+
//     stream 2   kernel ---------------------> wait e -> kernel     synchronize(stream 2)
//
// No operation runs until the host waits; then only the operations run that the wait
// needs. This is the latest time that CUDA allows, so a forgotten wait gives wrong data
// in every run. A query of unfinished work runs one operation and returns "not ready". A
// call on a stream with kLongestQueue operations first runs the oldest.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/order.hpp"

namespace mini::sim {

constexpr size_t kLongestQueue = 1024;

struct Stream {
    int device = 0;
    bool blocking = false;  // synchronizes with the legacy default stream
    bool legacy = false;    // this is the legacy default stream of its device
    uint32_t timeline = 0;
    uint64_t count = 0;
    Clock clock;                         // of the last operation, including itself
    std::deque<OperationPointer> queue;  // operations that are not done
    OperationPointer last;               // the operation submitted last
    bool running = false;                // a thread is running queue.front()
    bool destroyed = false;
};

/// A device's sticky error, which a failed kernel sets.
struct Fault {
    cudaError_t code = cudaSuccess;
    const char* message = nullptr;  // never freed
};

/// The streams of all devices. Several threads may wait at the same time; they share the
/// work.
class Machine {
  public:
    using Lock = std::unique_lock<std::mutex>;

    static Machine& instance();
    Lock lock() { return Lock(mutex_); }

    // REQUIRES for all functions below: the lock is held.

    Stream* create_stream(int device, bool blocking);
    void destroy_stream(Stream* stream);
    Stream* legacy_stream(int device) { return legacy_[static_cast<size_t>(device)]; }
    bool knows(const Stream* stream) const;

    /// Appends an operation to a stream. Blocks only while the stream is full.
    OperationPointer submit(Lock& lock, Stream* stream, Operation given,
                            const std::vector<OperationPointer>& after = {});

    /// Blocks until `operation` is done; returns immediately if it is null. Counts as a
    /// wait of the host for the operation (order.hpp).
    void wait(Lock& lock, const OperationPointer& operation);

    /// Blocks until all operations that a device's streams hold now are done. Counts as a
    /// wait of the host for them.
    void wait_device(Lock& lock, int device);

    /// Returns true if `operation` is null or was done before this call; counts as a wait
    /// of the host. Otherwise runs at most one operation, `operation` or one that it
    /// depends on, and returns false.
    bool query(Lock& lock, const OperationPointer& operation);

    /// Blocks until all operations that a device's streams hold now are done. Does not
    /// count as a wait of the host.
    void drain_device(Lock& lock, int device);

    Fault& fault(int device) { return faults_[static_cast<size_t>(device)]; }

  private:
    Machine();
    void run_until(Lock& lock, const OperationPointer& operation);
    Operation* ready_before(const Operation& goal);
    void run(Lock& lock, Operation& operation);
    void run_elsewhere(Lock& lock, OperationPointer operation);
    void host_comes_after(const OperationPointer& operation);
    void forget_if_over(Stream* stream);
    std::vector<OperationPointer> last_of(int device) const;

    std::mutex mutex_;
    std::condition_variable changed_;  // an operation is done
    std::vector<std::unique_ptr<Stream>> streams_;
    std::vector<Stream*> legacy_;  // by device
    std::vector<Fault> faults_;
    std::vector<uint32_t> free_timelines_;
    std::vector<uint64_t> counts_;  // by timeline: the count of its last destroyed stream
    Clock host_clock_;              // operations that the host waited for; [0]: submits
};

}  // namespace mini::sim
