// DataParallel over the CPU devices Device::cpu(i).

#pragma once

#include <memory>
#include <vector>

#include "libmini/parallel/data_parallel.hpp"

namespace mini::test {

inline std::vector<Device> cpu_devices(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(Device::cpu(i));
    return devices;
}

template <typename M>
parallel::DataParallel parallel_over(M& module, int devices) {
    return parallel::DataParallel(module, [] { return std::make_unique<M>(); },
                                  {.device_ids = cpu_devices(devices)});
}

}  // namespace mini::test
