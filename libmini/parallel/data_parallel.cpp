#include "libmini/parallel/data_parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <thread>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/random/random.hpp"

namespace mini::parallel {
namespace {

// Warn if a chunk has less than this fraction of the rows of the largest chunk. PyTorch
// compares the memory of the devices, with the same fraction.
constexpr double kBalanced = 0.75;

bool exists(Device device) {
    return device.index >= 0 && (device.is_cpu() || device.index < cuda_device_count());
}

void check_devices(const std::vector<Device>& devices, Device output_device) {
    for (const Device device : devices)
        if (std::count(devices.begin(), devices.end(), device) > 1)
            throw UsageError("DataParallel: device_ids has ", device,
                             " more than once; list each device once");
    std::vector<Device> all = devices;
    all.push_back(output_device);
    for (const Device device : all)
        if (!exists(device))
            throw UsageError("DataParallel: there is no device ", device, "; ",
                             cuda_device_count_text(),
                             ", and Device::cpu(i) is always there");
    for (const Device device : devices)
        if (device.type != devices[0].type)
            throw UsageError("DataParallel: device_ids has both ", devices[0], " and ",
                             device, "; use devices of one kind");
}

// Returns the devices of the type of the module's first tensor: all GPUs, or one CPU
// device per processor.
std::vector<Device> available_devices(const nn::Module& module) {
    const nn::NamedTensors state = module.state_dict();
    const Device::Type type =
        state.empty() ? default_device().type : state.front().second.device().type;
    const int processors =
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int count = type == Device::Type::kCPU ? processors : cuda_device_count();
    std::vector<Device> devices;
    for (int index = 0; index < count; ++index) devices.push_back({type, index});
    return devices;
}

void check_same(const char* kind, const nn::NamedTensors& original,
                const nn::NamedTensors& copy) {
    MINI_CHECK(original.size() == copy.size(), "DataParallel: the module has ",
               original.size(), " ", kind, "s, but one from make_replica has ",
               copy.size(), "; it must build the same module");
    for (size_t i = 0; i < original.size(); ++i) {
        const auto& [name, tensor] = original[i];
        const auto& [other_name, other] = copy[i];
        MINI_CHECK(name == other_name && tensor.shape() == other.shape() &&
                       tensor.dtype() == other.dtype(),
                   "DataParallel: ", kind, " ", i, " of the module is ", name, ", ",
                   tensor.dtype(), " ", tensor.shape(), ", but in one from make_replica ",
                   other_name, ", ", other.dtype(), " ", other.shape(),
                   "; it must build the same module");
    }
}

}  // namespace

DataParallel::DataParallel(nn::Module& module, ModuleFactory make_replica,
                           DataParallelOptions options)
    : module_(module),
      make_replica_(std::move(make_replica)),
      devices_(options.device_ids.empty() ? available_devices(module)
                                          : std::move(options.device_ids)),
      output_device_(options.output_device.value_or(devices_.front())),
      copies_(devices_.size()),
      workers_(devices_.size()) {
    check_devices(devices_, output_device_);
    register_module("module", module);
    for (size_t i = 1; i < devices_.size(); ++i)
        workers_[i] = std::make_unique<Worker>(devices_[i]);
}

Tensor DataParallel::forward(const Tensor& x) {
    check_device_of_module();
    if (devices_.size() == 1 && x.device() == devices_[0]) return module_(x);
    build_copies();
    seed_workers();
    if (x.dim() > 0) warn_of_imbalance(x.size(0));
    // [lab13.6] Scatter the batch, replicate the module, apply all, gather the outputs.
    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    std::vector<nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(workers_, modules, chunks);
    return gather(outputs, devices_, output_device_, stats_);
    // [lab13.6]
}

void DataParallel::check_device_of_module() const {
    for (const auto& [name, tensor] : module_.state_dict())
        MINI_CHECK(tensor.device() == devices_[0],
                   "DataParallel: module must have its parameters and buffers on device ",
                   devices_[0], " (device_ids[0]) but found one of them, ", name,
                   ", on device: ", tensor.device());
}

// Builds each copy on its worker, so that initialisers do not draw from the caller's
// generator.
void DataParallel::build_copies() {
    for (size_t i = 1; i < devices_.size(); ++i) {
        if (copies_[i] != nullptr) continue;
        std::unique_ptr<nn::Module> copy;
        std::future<void> built = workers_[i]->post([&] { copy = make_replica_(); });
        finish(built, i, devices_[i]);
        MINI_CHECK(copy != nullptr, "DataParallel: make_replica built no module");
        MINI_CHECK(copy->modules().size() == module_.modules().size(),
                   "DataParallel: make_replica must build all submodules of the module");
        check_same("parameter", module_.named_parameters(), copy->named_parameters());
        check_same("buffer", module_.named_buffers(), copy->named_buffers());
        copy->to(devices_[i]);
        copies_[i] = std::move(copy);
    }
}

void DataParallel::seed_workers() {
    Generator next = default_generator();
    const uint64_t seed = next.random();
    for (size_t i = 1; i < devices_.size(); ++i) {
        Generator generator = next;
        generator.manual_seed(seed + i);
        workers_[i]->post([generator] { default_generator() = generator; });
    }
}

void DataParallel::warn_of_imbalance(int64_t rows) {
    const auto sizes = chunk_sizes(rows, static_cast<int64_t>(devices_.size()));
    const int64_t most = sizes.front();
    const int64_t least = sizes.size() < devices_.size() ? 0 : sizes.back();
    if (warned_ || static_cast<double>(least) >= kBalanced * static_cast<double>(most))
        return;
    warned_ = true;
    logging::warning("DataParallel: of this batch device ", devices_.front(), " gets ",
                     most, " rows, but device ", devices_.back(), " ", least,
                     "; a batch size that is a multiple of ", devices_.size(),
                     " keeps all devices busy");
}

}  // namespace mini::parallel
