#include "libmini/training/rank_device.hpp"

#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/kernels/gpu.hpp"
#include "libmini/training/program.hpp"

namespace mini::training {

Device device_named(const std::string& name, int local_rank) {
    Device device = Device::parse(name);
    if (name == "cuda") device.index = local_rank % cuda_device_count();
    return device;
}

Device device_of_rank(const std::string& name, int local_rank) {
    const Device device = device_named(name, local_rank);
    if (device.is_cuda()) cuda::set_device(device.index);
    return device;
}

std::optional<Device> launched_device(const std::string& name) {
    const auto variables = launcher();
    if (!variables) return std::nullopt;
    const int local = variables->local_rank;
    return device_of_rank(name, local >= 0 ? local : variables->rank);
}

std::string describe_device(Device device) {
    if (device.is_cpu()) return concat(device);
    return concat(device, " (", cuda::device_name(device.index), ")");
}

std::vector<std::string> devices_of_ranks(dist::ProcessGroup& group, Device device) {
    std::vector<std::string> devices;
    const std::vector<int64_t> mine{device.index};
    for (const auto& index : dist::all_gather_values(group, mine))
        devices.push_back(concat(Device{device.type, static_cast<int>(index[0])}));
    return devices;
}

}  // namespace mini::training
