// The CUDA interface: streams, events and host functions.

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/stream.hpp"

struct CUevent_st {
    int device = 0;
    bool timing = false;
    mini::sim::OperationPointer marker = {};  // set by the last record
};

namespace mini::sim {
namespace {

// All events. Guarded by the machine's lock.
std::vector<cudaEvent_t>& events() {
    static auto* const all = new std::vector<cudaEvent_t>;
    return *all;
}

bool is_event(cudaEvent_t event) {
    return std::find(events().begin(), events().end(), event) != events().end();
}

}  // namespace
}  // namespace mini::sim

using namespace mini::sim;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return with_device([&](Machine& machine, Machine::Lock&, int device) {
        if (stream == nullptr || flags > cudaStreamNonBlocking)
            return cudaErrorInvalidValue;
        *stream = reinterpret_cast<cudaStream_t>(
            machine.create_stream(device, flags != cudaStreamNonBlocking));
        return machine.fault(device).code;
    });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const auto objects = lock_objects();
    StreamCall call(stream);
    if (call.error() == cudaErrorInvalidResourceHandle || call.stream().legacy)
        return report(cudaErrorInvalidResourceHandle);
    call.machine().destroy_stream(&call.stream());
    return report(call.error());
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return report(StreamCall(stream).wait());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    const int device = call.stream().device;
    const bool done = call.machine().query(call.lock(), call.stream().last);
    const cudaError_t fault = call.machine().fault(device).code;
    return report(fault == cudaSuccess && !done ? cudaErrorNotReady : fault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    if (!is_event(event)) return report(cudaErrorInvalidResourceHandle);
    if (event->marker != nullptr)
        call.machine().submit(call.lock(), &call.stream(), {}, {event->marker});
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data) {
    if (function == nullptr) return report(cudaErrorInvalidValue);
    return report(StreamCall(stream).give(
        {.kind = OperationKind::kHostFunction, .function = function, .data = data}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return with_device([&](Machine&, Machine::Lock&, int device) {
        if (event == nullptr) return cudaErrorInvalidValue;
        *event = new CUevent_st{device, (flags & cudaEventDisableTiming) == 0};
        events().push_back(*event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    open_context();
    const auto objects = lock_objects();
    const Machine::Lock lock = Machine::instance().lock();
    if (std::erase(events(), event) == 0) return report(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    StreamCall call(stream);
    if (call.error() != cudaSuccess) return report(call.error());
    if (!is_event(event) || event->device != call.stream().device)
        return report(cudaErrorInvalidResourceHandle);
    call.give({});
    event->marker = call.stream().last;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return with_device([&](Machine& machine, Machine::Lock& lock, int) {
        if (!is_event(event)) return cudaErrorInvalidResourceHandle;
        const int device = event->device;
        machine.wait(lock, event->marker);
        return machine.fault(device).code;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return with_device([&](Machine& machine, Machine::Lock& lock, int) {
        if (!is_event(event)) return cudaErrorInvalidResourceHandle;
        const int device = event->device;
        const bool done = machine.query(lock, event->marker);
        const cudaError_t fault = machine.fault(device).code;
        return fault == cudaSuccess && !done ? cudaErrorNotReady : fault;
    });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
    const Machine::Lock lock = Machine::instance().lock();
    if (milliseconds == nullptr) return report(cudaErrorInvalidValue);
    for (cudaEvent_t each : {start, end}) {
        if (!is_event(each)) return report(cudaErrorInvalidResourceHandle);
        if (!each->timing || each->marker == nullptr)
            return report(cudaErrorInvalidResourceHandle);
    }
    if (!start->marker->done || !end->marker->done) return report(cudaErrorNotReady);
    const std::chrono::duration<float, std::milli> between =
        end->marker->finished - start->marker->finished;
    *milliseconds = between.count();
    return cudaSuccess;
}
