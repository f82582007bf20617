// Streams, the machine that runs their operations, and the calls of the interface.
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
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/types.hpp"

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
    Stream* legacy_stream(int device) {
        return streams_[static_cast<size_t>(device)].get();
    }
    bool knows(const Stream* stream) const;

    /// Appends an operation to a stream, to run after another one if that is not null. Blocks
    /// only while the stream is full.
    void submit(Lock& lock, Stream* stream, Operation given,
                const OperationPointer& after);

    /// Blocks until `operation` is done; returns immediately if it is null. Counts as a
    /// wait of the host for the operation (launch.hpp). Returns the error of the device.
    cudaError_t wait(Lock& lock, const OperationPointer& operation, int device);

    /// Blocks until all operations that a device's streams hold now are done. Counts as a
    /// wait of the host for them, if `counts`.
    void wait_device(Lock& lock, int device, bool counts = true);

    /// Like wait() if `operation` is null or was done before this call. Otherwise runs at
    /// most one operation, `operation` or one that it depends on, and returns
    /// cudaErrorNotReady, or the error of the device.
    cudaError_t query(Lock& lock, const OperationPointer& operation, int device);

    /// A device's sticky error, which a failed kernel sets: its text, or "".
    std::string& fault(int device) { return faults_[static_cast<size_t>(device)]; }
    cudaError_t error(int device) {
        return fault(device).empty() ? cudaSuccess : cudaErrorLaunchFailure;
    }

  private:
    Machine();
    void run_until(Lock& lock, const OperationPointer& operation);
    Operation* ready_before(const Operation& goal);
    void run(Lock& lock, Operation& operation);
    void run_elsewhere(Lock& lock, OperationPointer operation);
    void host_comes_after(const OperationPointer& operation);
    void forget_if_over(Stream* stream);

    std::mutex mutex_;
    std::condition_variable changed_;               // an operation is done
    std::vector<std::unique_ptr<Stream>> streams_;  // first the legacy one of each device
    std::vector<std::string> faults_;
    uint32_t last_timeline_ = 0;
    Clock host_clock_;  // operations that the host waited for; [0]: submits
};

// What the functions of the CUDA interface share.

/// The state of the CUDA interface that is local to a host thread.
struct HostThread {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaError_t explained = cudaSuccess;  // the error that `explanation` belongs to
    std::string explanation;              // replaces the error's general text
};
HostThread& host_thread();

/// Returns the device that this thread set with cudaSetDevice, 0 by default. Opens the
/// device's context.
int current_device();

/// Opens the context of the current device. Nearly every CUDA function without a device
/// argument calls this.
void open_context();

/// Returns whether this process has opened a device's context. Contexts cost nothing
/// here; on a GPU they cost memory.
bool has_context(int device);

/// Stores an error for cudaGetLastError, and returns it.
/// `explanation` is what cudaGetErrorString returns for it on this thread, until the
/// thread's next error; if it is empty, the error's general text is used.
cudaError_t report(cudaError_t error, const std::string& explanation = {});

/// Reports what body(machine, lock, device) returns for the current device, with the machine
/// locked; cudaErrorNoDevice if there is no device.
cudaError_t with_device(const auto& body) {
    if (device_count() == 0) return report(cudaErrorNoDevice);
    const int device = current_device();
    Machine& machine = Machine::instance();
    Machine::Lock lock = machine.lock();
    return report(body(machine, lock, device));
}

/// Locks the lock of a context's objects. A call that frees memory has it while it waits
/// for the device, and a call that destroys an event or a stream needs it: so it was seen
/// on an H100 (driver 580). Lock it before the machine.
std::unique_lock<std::mutex> lock_objects();

/// One call of the interface that takes a stream: locks the machine, looks the stream up,
/// and fails with the same error codes as CUDA.
struct StreamCall {
    /// Looks up a stream. A null handle is the legacy default stream of the current
    /// device.
    explicit StreamCall(cudaStream_t handle);

    /// Submits an operation to the stream, which runs after another one if that is not null.
    cudaError_t give(Operation operation, const OperationPointer& after = nullptr);

    /// Blocks until the stream's work is done, or asks whether it is.
    cudaError_t wait(decltype(&Machine::wait) action = &Machine::wait);

    Machine& machine = Machine::instance();
    Machine::Lock lock = machine.lock();
    Stream* stream = nullptr;
    cudaError_t error = cudaSuccess;  // if the handle is invalid or the device has failed
};

}  // namespace mini::sim
