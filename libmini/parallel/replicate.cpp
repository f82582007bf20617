#include "libmini/parallel/replicate.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "libmini/autograd/node.hpp"

// [lab13 file]
namespace mini::parallel {
namespace {

// Returns the parameters, then the buffers.
std::vector<Tensor> state_of(const nn::Module& module) {
    std::vector<Tensor> state = module.parameters();
    for (const Tensor& buffer : module.buffers()) state.push_back(buffer);
    return state;
}

int64_t bytes_of(const Tensor& x) { return static_cast<int64_t>(x.bytes()); }

// Records that `copy` was computed from `original`, instead of what was recorded before.
void record_copy(const Tensor& copy, const Tensor& original, Backward backward) {
    copy.set_autograd_meta(nullptr);
    record("replicate", copy, {original}, std::move(backward));
}

}  // namespace

void replicate(nn::Module& original, nn::Module& copy, Device home, Device device,
               const SharedStats& stats) {
    // [lab13.5] Copy modes and tensors; in backward send each copy's gradient home.
    const auto modules = original.modules(), replicas = copy.modules();
    for (size_t i = 0; i < modules.size(); ++i)
        replicas[i]->set_training(modules[i]->is_training());
    const std::vector<Tensor> originals = state_of(original);
    std::vector<Tensor> copies = state_of(copy);
    for (size_t i = 0; i < originals.size(); ++i) {
        copies[i].set_data(copy_between(originals[i], home, device));
        stats->bytes_replicated += bytes_of(originals[i]);
        record_copy(copies[i], originals[i],
                    [home, device, stats](const Tensor& g, const Node&) -> Grads {
                        stats->bytes_reduced += bytes_of(g);
                        return {copy_between(g, device, home)};
                    });
    }
    // [lab13.5]
}

std::vector<Tensor> parallel_apply(const Workers& workers,
                                   const std::vector<nn::Module*>& modules,
                                   const std::vector<Tensor>& chunks) {
    std::vector<Tensor> outputs(chunks.size());
    // [lab13.4] Start all modules, wait for all, and then throw the first error.
    std::vector<std::future<void>> jobs(chunks.size());
    for (size_t i = chunks.size(); i-- > 0;)  // module 0 last: it runs on this thread
        jobs[i] = start(workers[i], [&, i, enabled = is_grad_enabled()] {
            std::optional<NoGradGuard> no_grad;
            if (!enabled) no_grad.emplace();
            outputs[i] = (*modules[i])(chunks[i]);
        });
    for (const auto& job : jobs) job.wait();
    for (size_t i = 0; i < jobs.size(); ++i) finish(jobs[i], i, chunks[i].device());
    // [lab13.4]
    return outputs;
}

}  // namespace mini::parallel
// [lab13 file]
