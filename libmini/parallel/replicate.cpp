#include "libmini/parallel/replicate.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "libmini/autograd/node.hpp"

namespace mini::parallel {
namespace {

std::string caught(const char* type, size_t replica, Device device,
                   const std::exception& error) {
    return concat("Caught ", type, " in replica ", replica, " on device ", device, ". ",
                  error.what());
}

// Returns the parameters, then the buffers.
std::vector<Tensor> state_of(const nn::Module& module) {
    std::vector<Tensor> state = module.parameters();
    for (const Tensor& buffer : module.buffers()) state.push_back(buffer);
    return state;
}

// Copies the mode of every submodule: a frozen layer may be in evaluation mode within a
// module in training mode.
void copy_modes(nn::Module& to, nn::Module& from) {
    const auto to_modules = to.modules(), from_modules = from.modules();
    MINI_CHECK(to_modules.size() == from_modules.size(), "DataParallel: the module has ",
               from_modules.size(), " submodules, but one from make_replica has ",
               to_modules.size(), "; it must build the same module");
    for (size_t i = 0; i < to_modules.size(); ++i)
        to_modules[i]->set_training(from_modules[i]->is_training());
}

int64_t bytes_of(const Tensor& x) { return static_cast<int64_t>(x.bytes()); }

// Removes the earlier record of `copy`. If `original` requires a gradient, unlike a
// buffer or a frozen parameter, records that `copy` was computed from `original`.
void record_copy(const Tensor& copy, const Tensor& original, Backward backward) {
    copy.set_autograd_meta(nullptr);
    record("replicate", copy, {original}, std::move(backward));
}

}  // namespace

void replicate(nn::Module& original, nn::Module& copy, Device home, Device device,
               const SharedStats& stats) {
    copy_modes(copy, original);
    const std::vector<Tensor> originals = state_of(original);
    std::vector<Tensor> copies = state_of(copy);
    // [lab13.5] Copy every tensor; in backward send the copy's gradient home.
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

void finish(std::future<void>& job, size_t replica, Device device) {
    try {
        job.get();
    } catch (const ShapeError& error) {
        throw ShapeError(caught("ShapeError", replica, device, error));
    } catch (const UsageError& error) {
        throw UsageError(caught("UsageError", replica, device, error));
    } catch (const Error& error) {
        throw Error(caught("Error", replica, device, error));
    } catch (const std::exception& error) {
        throw Error(caught("exception", replica, device, error));
    }
}

}  // namespace mini::parallel
