// The CUDA interface: memory, copies and fills, streams, events and host functions.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/race_checker.hpp"
#include "libmini/extras/cudasim/stream.hpp"

struct CUevent_st {
    int device = 0;
    bool timing = false;
    mini::sim::OperationPointer marker = {};  // set by the last record
};

namespace mini::sim {
namespace {

bool on_device(const void* pointer) { return device_of(pointer) >= 0; }

// Tells the checker why CUDA refuses a call.
cudaError_t refuse(const std::string& why) {
    if (is_inspected()) tell::refused(why.c_str());
    return report(cudaErrorInvalidValue);
}

// Refuses to use [pointer, pointer + bytes) unless it is in one living allocation. Pageable host
// memory always counts as valid: the simulator does not track it.
cudaError_t check_memory(const char* use, const void* pointer, size_t bytes) {
    if (device_of(pointer) == kPageable && pointer != nullptr) return cudaSuccess;
    const Allocation found = find_allocation(pointer);
    if (!found.freed && found.contains(pointer, bytes)) return cudaSuccess;
    return refuse(concat(use, " ", bytes, " bytes ",
                         place_outside(reinterpret_cast<uintptr_t>(pointer), found)));
}

// Returns the error of an invalid copy, else cudaSuccess.
cudaError_t copy_error(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    // Bit 0 of the direction is for a copy to a device, bit 1 for a copy from one; managed memory
    // is both. Addresses are unified: a copy between devices may name the host for one of the two.
    const auto fits = [&](const void* pointer, int bit) {
        const auto found = find_allocation(pointer);
        return found.managed || on_device(pointer) == ((kind & bit) != 0);
    };
    if (kind != cudaMemcpyDefault && !(fits(to, 1) && fits(from, 2)) &&
        !(on_device(to) && on_device(from) && kind != cudaMemcpyHostToHost))
        return refuse("a copy whose cudaMemcpyKind does not fit its pointers");
    const cudaError_t error = check_memory("a copy to", to, bytes);
    return error != cudaSuccess ? error : check_memory("a copy from", from, bytes);
}

// The host never waits for a copy from device to device. For a copy from pageable to device
// memory, a host that waits waits for the earlier operations, but not for the copy.
cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool waits) {
    StreamCall call(stream);
    if (call.error != cudaSuccess || bytes == 0) return call.error;
    if (const cudaError_t error = copy_error(to, from, bytes, kind)) return error;
    Operation copy{.kind = OperationKind::kCopy, .to = to, .from = from, .bytes = bytes};
    const bool pageable = device_of(to) == kPageable || device_of(from) == kPageable;
    if (pageable && on_device(to)) {  // the source is read now
        const auto* first =
            static_cast<const std::byte*>(std::exchange(copy.from, nullptr));
        copy.staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
        const cudaError_t waited = waits ? call.wait() : cudaSuccess;
        return waited != cudaSuccess ? waited : call.give(std::move(copy));
    }
    const bool on_devices = on_device(to) && on_device(from);
    const bool pinned = !pageable && (on_device(to) || on_device(from));
    call.give(std::move(copy));
    return on_devices || (pinned && !waits) ? cudaSuccess : call.wait();
}

// Frees memory after all work that may use it is done; managed memory is both kinds.
cudaError_t deallocate(void* pointer, bool pinned) {
    if (pointer == nullptr) return cudaSuccess;
    const auto found = find_allocation(pointer);
    if (found.id == 0 || ((found.device == kPinned) != pinned && !found.managed))
        return refuse("a free of memory that the matching call has not allocated");
    const auto objects = lock_objects();
    Machine& machine = Machine::instance();
    Machine::Lock lock = machine.lock();
    for (int each = 0; each < device_count(); ++each)
        if (each == found.device || found.device == kPinned)
            machine.wait_device(lock, each, false);
    if (!free_memory(pointer))
        return refuse(concat("a second free of ", name(found), ", or from within it"));
    return report(pinned || found.managed ? cudaSuccess : machine.error(found.device));
}

// All events. Guarded by the machine's lock.
std::set<cudaEvent_t>& events() {
    static auto* const all = new std::set<cudaEvent_t>;
    return *all;
}

// Waits for an event, or asks whether it is done.
cudaError_t of_event(cudaEvent_t event, decltype(&Machine::wait) action) {
    return with_device([&](Machine& machine, Machine::Lock& lock, int) {
        return events().contains(event)
                   ? (machine.*action)(lock, event->marker, event->device)
                   : cudaErrorInvalidResourceHandle;
    });
}

}  // namespace
}  // namespace mini::sim

using namespace mini::sim;

cudaError_t mini::sim::allocate(void** pointer, size_t bytes, MemoryKind kind) {
    return with_device([&](Machine& machine, Machine::Lock&, int device) {
        if (pointer == nullptr) return cudaErrorInvalidValue;
        if (const cudaError_t fault = machine.error(device)) return fault;
        const int where = kind == MemoryKind::kDevice ? device : kPinned;
        *pointer = nullptr;
        if (bytes > 0)
            *pointer = allocate_memory(bytes, where, kind == MemoryKind::kManaged);
        return bytes > 0 && *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
    });
}
cudaError_t cudaFree(void* pointer) { return deallocate(pointer, false); }
cudaError_t cudaFreeHost(void* pointer) { return deallocate(pointer, true); }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return with_device([&](Machine&, Machine::Lock&, int device) {
        *total = kDeviceBytes;
        *free = kDeviceBytes - used_memory(device);
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return report(copy(to, from, bytes, kind, stream, false));
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return report(copy(to, from, bytes, kind, nullptr, true));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                int from_device, size_t bytes, cudaStream_t stream) {
    for (const int each : {to_device, from_device})
        if (each < 0 || each >= device_count()) return report(cudaErrorInvalidDevice);
    if (device_of(to) != to_device || device_of(from) != from_device)
        return refuse("a copy whose devices are not those of its memory");
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
    StreamCall call(stream);
    if (call.error != cudaSuccess) return report(call.error);
    if (bytes == 0) return cudaSuccess;
    if (device_of(to) == kPageable) return refuse("a fill of the host's memory");
    if (const cudaError_t error = check_memory("a fill of", to, bytes)) return error;
    return report(call.give(
        {.kind = OperationKind::kFill, .to = to, .bytes = bytes, .value = value}));
}

void* mini::cuda::device_variable(const void* first, size_t bytes) {
    static std::mutex mutex;
    static auto& places = *new std::map<const void*, void*>;
    const std::lock_guard lock(mutex);
    void*& place = places[first];
    if (place != nullptr) return place;
    if (cudaMalloc(&place, bytes) != cudaSuccess ||
        cudaMemcpy(place, first, bytes, cudaMemcpyHostToDevice) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)  // before the kernels of every stream
        throw Error("a variable of ", bytes,
                    " bytes in device memory: ", cudaGetErrorString(cudaGetLastError()));
    return place;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return with_device([&](Machine& machine, Machine::Lock&, int device) {
        if (stream == nullptr || flags > cudaStreamNonBlocking)
            return cudaErrorInvalidValue;
        *stream = reinterpret_cast<cudaStream_t>(
            machine.create_stream(device, flags != cudaStreamNonBlocking));
        return machine.error(device);
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const auto objects = lock_objects();
    StreamCall call(stream);
    if (call.error == cudaErrorInvalidResourceHandle || call.stream->legacy)
        return report(cudaErrorInvalidResourceHandle);
    call.machine.destroy_stream(call.stream);
    return report(call.error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return report(StreamCall(stream).wait());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return report(StreamCall(stream).wait(&Machine::query));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    StreamCall call(stream);
    if (!events().contains(event)) return report(cudaErrorInvalidResourceHandle);
    return report(call.give({}, event->marker));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data) {
    if (function == nullptr) return report(cudaErrorInvalidValue);
    return report(StreamCall(stream).give(
        {.kind = OperationKind::kHostFunction, .function = function, .data = data}));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return with_device([&](Machine&, Machine::Lock&, int device) {
        if (event == nullptr || flags >= 2 * cudaEventInterprocess ||
            (flags & ~cudaEventBlockingSync) == cudaEventInterprocess)
            return cudaErrorInvalidValue;
        *event = new CUevent_st{device, (flags & cudaEventDisableTiming) == 0};
        events().insert(*event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    open_context();
    const auto objects = lock_objects();
    const Machine::Lock lock = Machine::instance().lock();
    if (events().erase(event) == 0) return report(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    StreamCall call(stream);
    if (call.error != cudaSuccess) return report(call.error);
    if (!events().contains(event) || event->device != call.stream->device)
        return report(cudaErrorInvalidResourceHandle);
    call.give({});
    event->marker = call.stream->last;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return of_event(event, &Machine::wait);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return of_event(event, &Machine::query); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
    const Machine::Lock lock = Machine::instance().lock();
    if (milliseconds == nullptr) return report(cudaErrorInvalidValue);
    for (cudaEvent_t each : {start, end})
        if (!events().contains(each) || !each->timing || each->marker == nullptr)
            return report(cudaErrorInvalidResourceHandle);
    if (!start->marker->done || !end->marker->done) return report(cudaErrorNotReady);
    const std::chrono::duration<float, std::milli> between =
        end->marker->finished - start->marker->finished;
    *milliseconds = between.count();
    return cudaSuccess;
}
