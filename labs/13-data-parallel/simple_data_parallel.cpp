#include "labs/13-data-parallel/simple_data_parallel.hpp"

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <utility>

#include "libmini/autograd/node.hpp"
#include "libmini/tensor/ops.hpp"

namespace simple {

using mini::Device, mini::Grads, mini::Tensor;
using mini::parallel::Lane, mini::parallel::SharedStats;

namespace {

// Returns the parameters, then the buffers.
std::vector<Tensor> state_of(const mini::nn::Module& module) {
    std::vector<Tensor> state = module.parameters();
    for (const Tensor& buffer : module.buffers()) state.push_back(buffer);
    return state;
}

// Copies the elements of `from` to `to`. The copy is not recorded for autograd.
void copy_values(Tensor& to, const Tensor& from) {
    const mini::NoGradGuard no_grad;
    mini::ops::copy_(to, from);
}

int64_t bytes_of(const Tensor& x) { return static_cast<int64_t>(x.bytes()); }

// Removes the earlier record of `copy`. If `original` requires a gradient, unlike a
// buffer or a frozen parameter, records that `copy` was computed from `original`.
void record_copy(const Tensor& copy, const Tensor& original, mini::Backward backward) {
    copy.set_autograd_meta(nullptr);
    mini::record("replicate", copy, {original}, std::move(backward));
}

}  // namespace

std::vector<Tensor> parallel_apply(const Lanes& lanes,
                                   const std::vector<mini::nn::Module*>& modules,
                                   const std::vector<Tensor>& chunks) {
    std::vector<Tensor> outputs(chunks.size());
    // [lab13.4] Start all modules, wait for all, and then throw the first error.
    std::vector<std::future<void>> jobs;
    for (size_t i = 0; i < chunks.size(); ++i)
        jobs.push_back(lanes[i]->post([&, i, enabled = mini::is_grad_enabled()] {
            std::optional<mini::NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        }));
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i)
        mini::parallel::finish(jobs[i], i, lanes[i]->device());
    // [lab13.4]
    return outputs;
}

void replicate(mini::nn::Module& original, mini::nn::Module& copy, Device home,
               Device device, const SharedStats& stats) {
    copy.train(original.is_training());
    const std::vector<Tensor> originals = state_of(original);
    std::vector<Tensor> copies = state_of(copy);
    // [lab13.5] Copy every tensor; in backward send the copy's gradient home.
    for (size_t i = 0; i < originals.size(); ++i) {
        copy_values(copies[i], originals[i]);
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const mini::Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {mini::parallel::copy_between(g, device, home)};
                    });
    }
    // [lab13.5]
}

DataParallel::DataParallel(mini::nn::Module& module,
                           const mini::parallel::ModuleFactory& make_copy,
                           std::vector<Device> devices)
    : module_(module), devices_(std::move(devices)) {
    register_module("module", module);
    for (size_t i = 0; i < devices_.size(); ++i) {
        lanes_.push_back(std::make_unique<Lane>(devices_[i]));
        copies_.push_back(i == 0 ? nullptr : make_copy());
        if (i > 0) copies_[i]->to(devices_[i]);
    }
}

Tensor DataParallel::forward(const Tensor& x) {
    // [lab13.6] Scatter the batch, replicate the module, apply all, gather the outputs.
    const std::vector<Tensor> chunks = mini::parallel::scatter(x, devices_, stats_);
    std::vector<mini::nn::Module*> modules{&module_};
    for (size_t i = 1; i < chunks.size(); ++i) {
        modules.push_back(copies_[i].get());
        replicate(module_, *modules[i], devices_[0], devices_[i], stats_);
    }
    const std::vector<Tensor> outputs = parallel_apply(lanes_, modules, chunks);
    return mini::parallel::gather(outputs, devices_, devices_[0], stats_);
    // [lab13.6]
}

}  // namespace simple
