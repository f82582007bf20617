// DataParallel over devices of the default device's type.

#pragma once

#include <memory>
#include <vector>

#include "libmini/parallel/data_parallel.hpp"
#include "tests/support/catch.hpp"

namespace mini::test {

/// Whether there are `count` devices of the default device's type; warns if not.
inline bool has_devices(int count) {
    if (default_device().is_cpu() || count <= cuda_device_count()) return true;
    WARN("left out: there are " << cuda_device_count() << " CUDA devices, not " << count);
    return false;
}

/// Returns the devices 0, ..., count - 1 of the default device's type.
inline std::vector<Device> test_devices(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back({default_device().type, i});
    return devices;
}

template <typename M>
parallel::DataParallel parallel_over(M& module, int devices) {
    return parallel::DataParallel(module, [] { return std::make_unique<M>(); },
                                  {.device_ids = test_devices(devices)});
}

}  // namespace mini::test
