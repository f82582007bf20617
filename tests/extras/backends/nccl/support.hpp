// Shared by the tests of backend nccl. Ranks are threads, each with its own device. If
// there are too few GPUs for a number of ranks, a test prints a warning and skips that
// number of ranks.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "libmini/extras/backends/nccl.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist::test {

/// Returns whether there are at least `ranks` devices; if not, warns that the test skips
/// this number of ranks.
inline bool has_gpus(int ranks) {
    const int devices = cuda::device_count();
    if (devices < ranks)
        WARN(ranks << " ranks need as many devices, but there are " << devices
                   << ": not tested");
    return devices >= ranks;
}

/// Runs body on each rank of a group of backend nccl. Returns each rank's exception, null
/// if the rank did not throw.
inline std::vector<std::exception_ptr> on_gpus(
    int world_size, const std::function<void(QueuedGroup& group, Device device)>& body,
    bool verify = false) {
    const int port = free_port();
    return on_ranks(world_size, [&](int rank) {
        const auto group = make_nccl_group(
            {{"127.0.0.1", port}, rank, world_size, Cookie{}}, verify, kLong);
        body(*group, Device::cuda(rank));
        group->shutdown();
    });
}

/// Runs body on each rank as on_gpus() and requires that none throws; warns if there are
/// too few devices.
inline void on_each_gpu(
    int world_size, const std::function<void(QueuedGroup& group, Device device)>& body,
    bool verify = false) {
    if (has_gpus(world_size)) require_none(on_gpus(world_size, body, verify));
}

inline Tensor filled(int64_t n, double value, Device device) {
    return Tensor::full({n}, value, DType::kFloat32, device);
}

inline void expect(const Tensor& x, double value) {
    const std::vector<float> got = x.to(Device::cpu()).to_vector<float>();
    MINI_CHECK(got == std::vector<float>(got.size(), static_cast<float>(value)),
               "expected ", value, " but got ", got.empty() ? 0 : got.front());
}

}  // namespace mini::dist::test
