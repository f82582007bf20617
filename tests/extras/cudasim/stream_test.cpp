// The order of work in streams: work runs as late as CUDA allows, in stream order.

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "libmini/extras/cudasim/block.hpp"
#include "libmini/extras/cudasim/launch.hpp"
#include "libmini/extras/cudasim/stream.hpp"
#include "tests/extras/cudasim/simulator_support.hpp"
#include "tests/support/contains.hpp"

namespace mini::sim {
namespace {

using test::contains;

using List = std::vector<int>;

TEST_CASE(
    "no work runs before the host waits and then only the work that the host waits for") {
    const TestStream first, second;
    List list;
    ok(append(list, 1, first));
    ok(append(list, 2, second));
    ok(append(list, 3, first));
    CHECK(list == List{});
    ok(cudaStreamSynchronize(first));
    CHECK(list == List{1, 3});
    ok(cudaDeviceSynchronize());
    CHECK(list == List{1, 3, 2});
}

TEST_CASE("blocking streams and the legacy default stream wait for each other") {
    const TestStream blocking(cudaStreamDefault), apart;
    List list;
    ok(append(list, 1, blocking));
    ok(append(list, 2, nullptr));
    ok(append(list, 3, blocking));
    ok(append(list, 4, apart));
    ok(cudaStreamSynchronize(blocking));
    CHECK(list == List{1, 2, 3});
    ok(cudaStreamSynchronize(apart));
    CHECK(list == List{1, 2, 3, 4});
}

TEST_CASE("a non-blocking stream does not wait for the legacy default stream") {
    const TestStream apart;
    List list;
    ok(append(list, 1, nullptr));
    ok(append(list, 2, apart));
    ok(cudaStreamSynchronize(apart));
    CHECK(list == List{2});
    ok(cudaStreamSynchronize(nullptr));
    CHECK(list == List{2, 1});
}

TEST_CASE("each query of a stream runs one of its operations") {
    const TestStream stream;
    List list;
    ok(append(list, 1, stream));
    ok(append(list, 2, stream));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(list == List{1, 2});
    CHECK(cudaGetLastError() == cudaErrorNotReady);
}

TEST_CASE("a call on a full stream runs the oldest operation") {
    const TestStream stream;
    List list;
    const auto longest = static_cast<int>(kLongestQueue);
    for (int i = 0; i < longest; ++i) ok(append(list, i, stream));
    CHECK(list == List{});
    ok(append(list, longest, stream));
    CHECK(list == List{0});
    ok(cudaStreamSynchronize(stream));
    CHECK(static_cast<int>(list.size()) == longest + 1);
}

TEST_CASE("host functions run in the stream's order") {
    const TestStream stream;
    List list;
    ok(append(list, 1, stream));
    ok(cudaLaunchHostFunc(
        stream, [](void* data) { static_cast<List*>(data)->push_back(2); }, &list));
    ok(append(list, 3, stream));
    ok(cudaStreamSynchronize(stream));
    CHECK(list == List{1, 2, 3});
    CHECK(cudaLaunchHostFunc(stream, nullptr, &list) == cudaErrorInvalidValue);
}

TEST_CASE(
    "a query does not wait for a host function that waits for the querying thread") {
    const TestStream stream;
    std::promise<void> done;
    ok(cudaLaunchHostFunc(
        stream,
        [](void* data) { static_cast<std::promise<void>*>(data)->get_future().wait(); },
        &done));
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);  // the function runs only once
    done.set_value();
    ok(cudaStreamSynchronize(stream));
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    CHECK(cudaGetLastError() == cudaErrorNotReady);
}

TEST_CASE(
    "host functions that finish while a query waits for them run once and in order") {
    constexpr int kRounds = 300;
    const TestStream stream;
    List list, expected;
    for (int i = 0; i < kRounds; ++i) {
        ok(cudaLaunchHostFunc(
            stream, [](void* data) { static_cast<List*>(data)->push_back(0); }, &list));
        ok(append(list, 1, stream));
        while (cudaStreamQuery(stream) != cudaSuccess) {
        }
        expected.insert(expected.end(), {0, 1});
    }
    CHECK(list == expected);
    cudaGetLastError();
}

TEST_CASE("pageable memory is read at the call and pinned memory when the copy runs") {
    const TestStream stream;
    const TestInts device(2), pinned(1, true);
    int pageable = 1;
    *pinned.data = 1;
    ok(cudaMemcpyAsync(device.data, &pageable, 4, cudaMemcpyHostToDevice, stream));
    ok(cudaMemcpyAsync(device.data + 1, pinned.data, 4, cudaMemcpyHostToDevice, stream));
    pageable = *pinned.data = 2;
    int got[2] = {};
    ok(cudaMemcpyAsync(got, device.data, 8, cudaMemcpyDeviceToHost, stream));
    CHECK(got[0] == 1);
    CHECK(got[1] == 2);
}

TEST_CASE("a copy to pinned memory is not visible before the host waits") {
    const TestStream stream;
    const TestInts device(1), pinned(1, true);
    *pinned.data = 7;
    ok(cudaMemcpyAsync(pinned.data, device.data, 4, cudaMemcpyDeviceToHost, stream));
    CHECK(*pinned.data == 7);
    ok(cudaStreamSynchronize(stream));
    CHECK(*pinned.data == 0);
}

TEST_CASE("cudaMemcpy from device to device memory does not make the host wait") {
    const TestInts a(1), b(1);
    List list;
    ok(append(list, 1, nullptr));
    ok(cudaMemcpy(a.data, b.data, 4, cudaMemcpyDeviceToDevice));
    CHECK(list == List{});
    int host = 0;
    ok(cudaMemcpy(&host, a.data, 4, cudaMemcpyDeviceToHost));
    CHECK(list == List{1});
}

TEST_CASE("the work of a destroyed stream still runs") {
    List list;
    {
        const TestStream stream;
        ok(append(list, 1, stream));
    }
    CHECK(list == List{});
    ok(cudaDeviceSynchronize());
    CHECK(list == List{1});
}

TEST_CASE("an invalid handle or device is rejected") {
    cudaStream_t destroyed = nullptr;
    ok(cudaStreamCreate(&destroyed));
    ok(cudaStreamDestroy(destroyed));
    CHECK(cudaStreamDestroy(destroyed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamSynchronize(destroyed) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
}

TEST_CASE("a kernel launch on a stream of another device is rejected") {
    const TestStream stream;
    List list;
    ok(cudaSetDevice(1));
    CHECK(append(list, 1, stream) == cudaErrorInvalidResourceHandle);
    ok(cudaSetDevice(0));
    ok(append(list, 2, stream));
    ok(cudaStreamSynchronize(stream));
    CHECK(list == List{2});
}

TEST_CASE("a launch beyond the device's limits is rejected") {
    const auto launch = [](dim3 grid, dim3 block, size_t shared = 0) {
        return cuda::enqueue_body({grid, block, shared}, nullptr, [] {});
    };
    CHECK(launch(1, 1025) == cudaErrorInvalidConfiguration);
    CHECK(launch(1, dim3(32, 33)) == cudaErrorInvalidConfiguration);
    CHECK(launch(1, dim3(1, 1, 65)) == cudaErrorInvalidConfiguration);
    CHECK(launch(0, 1) == cudaErrorInvalidConfiguration);
    CHECK(launch(1, dim3(1, 0)) == cudaErrorInvalidConfiguration);
    CHECK(launch(dim3(1, 65536), 1) == cudaErrorInvalidConfiguration);
    CHECK(launch(1, 1, 48 * 1024 + 1) == cudaErrorInvalidValue);
    CHECK(launch(1, dim3(32, 32), 48 * 1024) == cudaSuccess);
    ok(cudaDeviceSynchronize());
}

void big_kernel() {}

TEST_CASE("cudaFuncSetAttribute raises a kernel's limit of dynamic shared memory") {
    const auto launch = [] {
        return cuda::enqueue_body({1, 1, 100000},
                                  reinterpret_cast<const void*>(&big_kernel), big_kernel);
    };
    CHECK(launch() == cudaErrorInvalidValue);
    ok(cudaFuncSetAttribute(big_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            100000));
    ok(launch());
    ok(cudaDeviceSynchronize());
    CHECK(cudaFuncSetAttribute(big_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               1 << 20) == cudaErrorInvalidValue);
}

void stuck_kernel() {
    if (running().thread == 0) {
        ballot(2, false);
    } else {
        block_barrier();
    }
}

TEST_CASE("a failed kernel sets a sticky error that names the kernel and its threads") {
    ok(cudaSetDevice(2));
    List list;
    ok(cuda::enqueue_body({1, 32}, reinterpret_cast<const void*>(&stuck_kernel),
                          stuck_kernel));
    ok(append(list, 1, nullptr));
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(contains(cudaGetErrorString(cudaErrorLaunchFailure), "stuck_kernel"));
    CHECK(contains(cudaGetErrorString(cudaErrorLaunchFailure), "31 threads"));
    CHECK(list == List{});  // operations after a failure do not run
    int* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, 4) == cudaErrorLaunchFailure);
    CHECK(append(list, 2, nullptr) == cudaErrorLaunchFailure);
    CHECK(cudaStreamQuery(nullptr) == cudaErrorLaunchFailure);

    // Other devices still work, and this device works again after a reset.
    ok(cudaSetDevice(0));
    ok(cudaDeviceSynchronize());
    ok(cudaSetDevice(2));
    ok(cudaDeviceReset());
    ok(append(list, 3, nullptr));
    ok(cudaDeviceSynchronize());
    CHECK(list == List{3});
    ok(cudaSetDevice(0));
    cudaGetLastError();
}

TEST_CASE("several host threads wait for streams that depend on each other") {
    constexpr int kHosts = 4, kRounds = 50;
    std::vector<std::atomic<int>> counts(kHosts);
    std::atomic<int> errors = 0;
    std::vector<std::thread> hosts;
    for (int host = 0; host < kHosts; ++host)
        hosts.emplace_back([&, host] {
            // Use a shared legacy stream and the thread's own stream concurrently.
            errors += cudaSetDevice(host % 2) != cudaSuccess;
            cudaStream_t own = nullptr;
            errors += cudaStreamCreate(&own) != cudaSuccess;
            for (int i = 0; i < kRounds; ++i) {
                const auto add = [&counts, host] { ++counts[host]; };
                errors += cuda::enqueue_body({2, 3, 0, own}, nullptr, add) != cudaSuccess;
                errors += cuda::enqueue_body({1, 1}, nullptr, add) != cudaSuccess;
                if (i % 5 == 0) errors += cudaStreamSynchronize(own) != cudaSuccess;
            }
            errors += cudaDeviceSynchronize() != cudaSuccess;
            errors += cudaStreamDestroy(own) != cudaSuccess;
        });
    for (std::thread& each : hosts) each.join();
    CHECK(errors == 0);
    for (const auto& count : counts) CHECK(count == kRounds * 7);
}

// Returns the last operation that was submitted to a stream.
Operation last_of(cudaStream_t stream) {
    return *reinterpret_cast<Stream*>(stream)->last;
}

TEST_CASE(
    "clocks give the happens-before order and not the order in which operations ran") {
    const TestStream first, second;
    const TestEvent event;
    List list;
    std::vector<Operation> run;
    const auto submit = [&](int number, cudaStream_t stream) {
        ok(append(list, number, stream));
        run.push_back(last_of(stream));
    };
    submit(1, first);
    ok(cudaEventRecord(event, first));
    submit(2, first);
    submit(3, second);
    ok(cudaStreamWaitEvent(second, event));
    submit(4, second);
    ok(cudaDeviceSynchronize());
    REQUIRE(list == List{1, 2, 3, 4});

    CHECK(precedes(run[0].stamp, run[1].clock));        // in the same stream
    CHECK(precedes(run[0].stamp, run[3].clock));        // through the event
    CHECK_FALSE(precedes(run[1].stamp, run[3].clock));  // submitted after the record
    CHECK_FALSE(precedes(run[0].stamp, run[2].clock));  // submitted before the wait

    // Work submitted after a wait is ordered after the work that the host waited for.
    submit(5, second);
    for (const Operation& each : run) CHECK(precedes(each.stamp, run[4].clock));
    ok(cudaDeviceSynchronize());
}

}  // namespace
}  // namespace mini::sim
