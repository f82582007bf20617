// Streams, and the machine that runs what is in them.
//
// A call puts an operation into its stream and returns. An operation comes after the one before
// it in its stream and after those that it names; the legacy default stream comes after, and
// before, all blocking streams of its device. That is a graph without cycles, since an operation
// only ever names older ones.
//
//     stream 1   copy -> kernel -> record e ----+
//     stream 2   kernel ---------------------> wait e -> kernel      synchronize(stream 2)
//
// Nothing runs until the host waits, and then only what that wait needs: the latest moment that
// CUDA allows, so that a forgotten wait shows as wrong data, each time. With MINI_SIM_ORDER=eager
// an operation runs when it is given: the earliest moment. A query runs one operation and says
// that it is not ready. A stream holds kLongestQueue operations at most; a call that finds it full
// runs the oldest.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libmini/cudasim/launch.hpp"
#include "libmini/cudasim/observer.hpp"
#include "libmini/cudasim/order.hpp"
#include "libmini/cudasim/types.hpp"

namespace mini::sim {

constexpr size_t kLongestQueue = 1024;

/// What an operation does, as often as it is asked to.
struct Job {
    OperationKind kind = OperationKind::kMarker;
    std::shared_ptr<const Launch> launch = nullptr;  // a kernel
    void* to = nullptr;                              // a copy or a fill
    const void* from = nullptr;                      // a copy
    std::shared_ptr<std::vector<std::byte>> staged =
        nullptr;  // what it copies instead of `from`
    size_t bytes = 0;
    int value = 0;                      // a fill
    void (*function)(void*) = nullptr;  // a host function
    void* data = nullptr;
};

struct Stream;
struct Capture;

/// A job in a stream.
struct Operation {
    OperationInfo info;
    Job job;
    Stream* stream = nullptr;
    std::vector<std::shared_ptr<Operation>>
        after;  // besides those before it in its stream
    bool done = false;
    std::chrono::steady_clock::time_point finished;
};
using OperationPointer = std::shared_ptr<Operation>;

struct Stream {
    int device = 0;
    bool blocking = false;  // waits for the legacy default stream, and it for this one
    bool legacy = false;    // is that one
    uint32_t timeline = 0;
    uint64_t count = 0;
    Clock clock;                         // of the last operation, itself included
    std::deque<OperationPointer> queue;  // not yet done
    OperationPointer last;               // the last that was given
    bool running = false;                // some thread runs queue.front()
    bool destroyed = false;

    std::shared_ptr<Capture> capture;  // which records instead, or null (graph.hpp)
    size_t branch = 0;                 // the stream's number in that capture
    std::vector<size_t> tail;          // the nodes that the next one comes after
};

/// A device's lasting error: what a failed kernel leaves behind.
struct Fault {
    cudaError_t code = cudaSuccess;
    const char* message = nullptr;  // lives for ever
};

/// All devices' streams. Methods take the machine's lock where they say so; calls of any number
/// of threads may wait at the same time, and share the work.
class Machine {
  public:
    using Lock = std::unique_lock<std::mutex>;

    static Machine& instance();
    Lock lock() { return Lock(mutex_); }

    // All of the following: REQUIRES the lock is held.

    Stream* create_stream(int device, bool blocking);
    void destroy_stream(Stream* stream);
    Stream* legacy_stream(int device) { return legacy_[static_cast<size_t>(device)]; }
    bool knows(const Stream* stream) const;

    /// Puts a job into a stream. Blocks only as long as the stream is full.
    OperationPointer submit(Lock& lock, Stream* stream, Job job,
                            std::vector<OperationPointer> after = {});

    /// Blocks until an operation is done; null is. The host comes after it from then on.
    void wait(Lock& lock, const OperationPointer& operation);

    /// Waits for all that a device's streams hold now.
    void wait_device(Lock& lock, int device);

    /// Runs one operation that `operation` needs; whether it was done before this call.
    bool query(Lock& lock, const OperationPointer& operation);

    /// Runs all that a device's streams hold, without the host having waited for it.
    void drain_device(Lock& lock, int device);

    Fault& fault(int device) { return faults_[static_cast<size_t>(device)]; }
    const std::vector<std::unique_ptr<Stream>>& streams() const { return streams_; }

  private:
    Machine();
    void come_after(OperationInfo& info, std::vector<OperationPointer>& after,
                    const OperationPointer& earlier);
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
    std::vector<uint64_t> counts_;  // by timeline, how far it has come
    Clock host_clock_;              // what the host has waited for; [0] counts its calls
    uint64_t last_id_ = 0;
    bool eager_ = false;
};

}  // namespace mini::sim
