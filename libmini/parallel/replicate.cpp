#include "libmini/parallel/replicate.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

std::string caught(const char* type, size_t replica, Device device,
                   const std::exception& error) {
    return concat("Caught ", type, " in replica ", replica, " on device ", device, ". ",
                  error.what());
}

void check_same(const char* kind, const nn::NamedTensors& original,
                const nn::NamedTensors& replica) {
    MINI_CHECK(original.size() == replica.size(), "DataParallel: the module has ",
               original.size(), " ", kind, "s, but one from make_replica has ",
               replica.size(), "; it must build the same module");
    for (size_t i = 0; i < original.size(); ++i) {
        const auto& [name, tensor] = original[i];
        const auto& [other_name, other] = replica[i];
        MINI_CHECK(name == other_name && tensor.shape() == other.shape() &&
                       tensor.dtype() == other.dtype(),
                   "DataParallel: ", kind, " ", i, " of the module is ", name, ", ",
                   tensor.dtype(), " ", tensor.shape(), ", but in one from make_replica ",
                   other_name, ", ", other.dtype(), " ", other.shape(),
                   "; it must build the same module");
    }
}

void copy_all(std::vector<Tensor>& to, const std::vector<Tensor>& from) {
    const NoGradGuard no_grad;
    for (size_t i = 0; i < to.size(); ++i) ops::copy_(to[i], from[i]);
}

int64_t total_bytes(const std::vector<Tensor>& tensors) {
    int64_t bytes = 0;
    for (const Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.bytes());
    return bytes;
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

}  // namespace

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

Replica::Replica(size_t index, std::shared_ptr<Lane> lane, const ModuleFactory& make,
                 const nn::Module& original)
    : index(index), lane(std::move(lane)) {
    std::future<void> built = this->lane->post([&] { module = make(); });
    finish(built, index, this->lane->device());
    MINI_CHECK(module != nullptr, "DataParallel: make_replica built no module");
    module->to(this->lane->device());
    check_same("parameter", original.named_parameters(), module->named_parameters());
    check_same("buffer", original.named_buffers(), module->named_buffers());
    parameters = module->parameters();
    buffers = module->buffers();
}

ReplicaPass::ReplicaPass(std::shared_ptr<Replica> replica, Device home, SharedStats stats)
    : replica_(std::move(replica)), home_(home), stats_(std::move(stats)) {}

ReplicaPass::~ReplicaPass() {
    wait();
    output_ = {};  // free the graph before another pass takes the replica
    replica_->in_use.store(false, std::memory_order_release);
}

void ReplicaPass::wait() const {
    if (job_.valid()) job_.wait();
}

void ReplicaPass::start_replicate(nn::Module& original) {
    job_ = replica_->lane->post([this, &original] {
        const std::vector<Tensor> parameters = original.parameters();
        copy_all(replica_->parameters, parameters);
        copy_all(replica_->buffers, original.buffers());
        for (size_t i = 0; i < parameters.size(); ++i)
            replica_->parameters[i].set_requires_grad(parameters[i].requires_grad());
        copy_modes(*replica_->module, original);
    });
}

Tensor ReplicaPass::finish_replicate(const nn::Module& original, const Tensor& chunk) {
    finish(job_, replica_->index, replica_->lane->device());
    stats_->bytes_replicated +=
        total_bytes(replica_->parameters) + total_bytes(replica_->buffers);

    chunk_ = chunk.detach();
    if (is_grad_enabled() && chunk.requires_grad()) chunk_.set_requires_grad();
    std::vector<Tensor> inputs = original.parameters();
    inputs.push_back(chunk);
    return record("replicate", Tensor::empty({0}), inputs,
                  [pass = shared_from_this()](const Tensor&, const Node&) {
                      return pass->finish_backward();
                  });
}

void ReplicaPass::start_forward(const Generator& generator) {
    job_ = replica_->lane->post([this, generator, grad_enabled = is_grad_enabled()] {
        std::optional<NoGradGuard> no_grad;
        if (!grad_enabled) no_grad.emplace();
        default_generator() = generator;
        output_ = (*replica_->module)(chunk_);
    });
}

Tensor ReplicaPass::finish_forward(const Tensor& replicated) {
    finish(job_, replica_->index, replica_->lane->device());
    if (!output_.requires_grad()) return output_;
    return record("parallel_apply", output_.detach(), {replicated},
                  [pass = shared_from_this()](const Tensor& g, const Node&) -> Grads {
                      pass->start_backward(g);
                      return {Tensor::empty({0})};
                  });
}

void ReplicaPass::start_backward(const Tensor& gradient) {
    job_ = replica_->lane->post([this, gradient] {
        for (Tensor& parameter : replica_->parameters) parameter.set_grad({});
        chunk_.set_grad({});
        // Keep the replica's graph: it is freed with this pass, when the caller frees its
        // own graph.
        output_.backward({.gradient = gradient, .retain_graph = true});
    });
}

// Returns the gradients of the replica's parameters, on the module's device, then the
// gradient of the chunk, on the replica's device.
Grads ReplicaPass::finish_backward() {
    const Device here = replica_->lane->device();
    finish(job_, replica_->index, here);
    Grads shares;
    for (Tensor& parameter : replica_->parameters) {
        shares.push_back({});
        if (!parameter.grad().defined()) continue;
        shares.back() = copy_between(parameter.grad(), here, home_);
        stats_->bytes_reduced += static_cast<int64_t>(shares.back().bytes());
        parameter.set_grad({});
    }
    shares.push_back(chunk_.grad());
    chunk_.set_grad({});
    return shares;
}

}  // namespace mini::parallel
