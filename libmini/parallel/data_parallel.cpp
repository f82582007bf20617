#include "libmini/parallel/data_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/random/streams.hpp"

namespace mini::parallel {
namespace {

// Warn if a chunk has less than this fraction of the rows of the largest chunk. PyTorch
// compares the memory of the devices, with the same fraction.
constexpr double kBalanced = 0.75;

void check_devices(const std::vector<Device>& devices, Device output_device) {
    for (size_t i = 0; i < devices.size(); ++i)
        if (std::count(devices.begin(), devices.end(), devices[i]) > 1)
            throw UsageError(concat("DataParallel: device_ids has ", devices[i],
                                    " more than once; list each device once"));
    std::vector<Device> all = devices;
    all.push_back(output_device);
    for (const Device device : all)
        if (!has_lanes(device))
            throw UsageError(concat("DataParallel: there is no device ", device, "; ",
                                    cuda_device_count_text(),
                                    ", and Device::cpu(i) is always there"));
    for (const Device device : devices)
        if (device.type != devices[0].type)
            throw UsageError(concat("DataParallel: device_ids has both ", devices[0],
                                    " and ", device, "; use devices of one kind"));
}

// Returns the device type of the module's first tensor.
Device::Type type_of(const nn::Module& module) {
    std::vector<Tensor> tensors = module.parameters();
    if (tensors.empty()) tensors = module.buffers();
    return tensors.empty() ? default_device().type : tensors.front().device().type;
}

// Returns the generator of device `index`; DataParallel's contract defines the seed.
Generator generator_of_device(size_t index) {
    Generator generator = generator_of(Stream::kDropout);
    generator.manual_seed(generator.random() + index);
    return generator;
}

}  // namespace

DataParallel::DataParallel(nn::Module& module, ModuleFactory make_replica,
                           DataParallelOptions options)
    : module_(module),
      make_replica_(std::move(make_replica)),
      devices_(options.device_ids.empty() ? available_devices(type_of(module))
                                          : std::move(options.device_ids)),
      output_device_(options.output_device.value_or(devices_.front())),
      replicas_(devices_.size()) {
    check_devices(devices_, output_device_);
    register_module("module", module);
    lanes_.push_back(nullptr);
    for (size_t i = 1; i < devices_.size(); ++i)
        lanes_.push_back(std::make_shared<Lane>(devices_[i]));
}

Tensor DataParallel::forward(const Tensor& x) {
    check_device_of_module();
    if (devices_.size() == 1 && x.device() == devices_[0]) return module_(x);

    const std::vector<Tensor> chunks = scatter(x, devices_, stats_);
    warn_of_imbalance(chunks);
    Passes passes = replicate(chunks.size());
    const std::vector<Tensor> outputs = parallel_apply(chunks, passes);
    return gather(outputs, devices_, output_device_, stats_);
}

void DataParallel::check_device_of_module() const {
    nn::NamedTensors tensors = module_.named_parameters();
    std::ranges::copy(module_.named_buffers(), std::back_inserter(tensors));
    for (const auto& [name, tensor] : tensors)
        MINI_CHECK(tensor.device() == devices_[0],
                   "DataParallel: module must have its parameters and buffers on device ",
                   devices_[0], " (device_ids[0]) but found one of them, ", name,
                   ", on device: ", tensor.device());
}

void DataParallel::warn_of_imbalance(const std::vector<Tensor>& chunks) {
    const int64_t most = chunks.front().size(0);
    const int64_t least = chunks.size() < devices_.size() ? 0 : chunks.back().size(0);
    if (warned_ || static_cast<double>(least) >= kBalanced * static_cast<double>(most))
        return;
    warned_ = true;
    logging::warning("DataParallel: of this batch device ", devices_.front(), " gets ",
                     most, " rows, but device ", devices_.back(), " ", least,
                     "; a batch size that is a multiple of ", devices_.size(),
                     " keeps all devices busy");
}

// Returns a replica that no pass uses; builds a new replica if all are in use.
std::shared_ptr<Replica> DataParallel::free_replica(size_t index) {
    for (const auto& replica : replicas_[index])
        if (!replica->in_use.exchange(true, std::memory_order_acquire)) return replica;
    auto replica =
        std::make_shared<Replica>(index, lanes_[index], make_replica_, module_);
    replica->in_use = true;
    replicas_[index].push_back(replica);
    return replica;
}

// Returns one pass per chunk, and copies the module's values to the replica of each pass.
// Element 0 is null, since the module itself computes chunk 0.
DataParallel::Passes DataParallel::replicate(size_t count) {
    Passes passes(count);
    for (size_t i = 1; i < count; ++i) {
        passes[i] =
            std::make_shared<ReplicaPass>(free_replica(i), devices_.front(), stats_);
        passes[i]->start_replicate(module_);
    }
    for (size_t i = 1; i < count; ++i) passes[i]->wait();
    return passes;
}

std::vector<Tensor> DataParallel::parallel_apply(const std::vector<Tensor>& chunks,
                                                 Passes& passes) {
    // Create the replicas' nodes before the module's nodes, from the last replica to
    // replica 1: then backward adds up the gradients in the order 0, 1, 2, ...
    std::vector<Tensor> replicated(chunks.size());
    for (size_t i = chunks.size(); --i > 0;)
        replicated[i] = passes[i]->finish_replicate(module_, chunks[i]);

    // Compute on all devices, and wait for all of them before checking for errors.
    for (size_t i = 1; i < chunks.size(); ++i)
        passes[i]->start_forward(generator_of_device(i));
    std::vector<Tensor> outputs(chunks.size());
    std::packaged_task<void()> own([&] { outputs[0] = module_(chunks[0]); });
    std::future<void> own_done = own.get_future();
    own();
    for (size_t i = 1; i < chunks.size(); ++i) passes[i]->wait();

    finish(own_done, 0, devices_[0]);
    for (size_t i = 1; i < chunks.size(); ++i)
        outputs[i] = passes[i]->finish_forward(replicated[i]);
    return outputs;
}

}  // namespace mini::parallel
