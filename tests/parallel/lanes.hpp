// DataParallel over CPU lanes, the devices Device::cpu(i).

#pragma once

#include <memory>
#include <vector>

#include "libmini/parallel/data_parallel.hpp"

namespace mini::test {

inline std::vector<Device> lanes(int count) {
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(Device::cpu(i));
    return devices;
}

template <typename M>
parallel::DataParallel parallel_over(M& module, int devices) {
    return parallel::DataParallel(module, [] { return std::make_unique<M>(); },
                                  {.device_ids = lanes(devices)});
}

}  // namespace mini::test
