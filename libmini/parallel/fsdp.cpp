#include "libmini/parallel/fsdp.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "libmini/autograd/engine.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/group/current_group.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"
#include "libmini/parallel/same_parameters.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {

int64_t shard_numel(int64_t numel, int ranks) { return (numel + ranks - 1) / ranks; }

Tensor reshard(const std::vector<Tensor>& shards, int64_t numel, int rank, int ranks) {
    // Copy the part of each shard that lies in the new one.
    const int64_t size = shard_numel(numel, ranks), begin = rank * size;
    const int64_t end = std::min(begin + size, numel);
    const Tensor result = shards.front().new_zeros({size});
    for (size_t i = 0; i < shards.size(); ++i) {
        const int64_t old = shards[i].numel(), offset = static_cast<int64_t>(i) * old;
        const int64_t from = std::max(begin, offset), to = std::min(end, offset + old);
        if (from >= to) continue;
        Tensor part = ops::narrow(result, 0, from - begin, to - from);
        ops::copy_(part, ops::narrow(shards[i].detach(), 0, from - offset, to - from));
    }
    return result;
}

namespace {

// A submodule with its own parameters. `flat` has them one after the other, and zeros up to
// a multiple of the world size; the parameters are views of it.
struct Unit {
    std::string name;
    nn::Module* module;
    nn::NamedTensors parameters = {};
    int64_t numel = 0;  // without the zeros
    Tensor flat = {};
    std::vector<Tensor> views = {};  // of `flat`, by parameter
    Tensor shard = {};
    bool is_gathered = false;        // `flat` has memory
    dist::WorkHandle gather = {};    // until it is waited for
    std::vector<bool> missing = {};  // by parameter: its gradient is still to come
    Tensor gradient = {};  // flat, from the first gradient to the reduction's end
    std::vector<Tensor> gradients = {};  // views of it
    dist::WorkHandle reduction = {};

    bool is_in_backward() const { return std::ranges::count(missing, true) > 0; }
    std::string text() const { return name.empty() ? "(the module itself)" : name; }
};

// Returns whether `inner` names a submodule of the one that `outer` names.
bool is_inside(const std::string& inner, const std::string& outer) {
    return outer.empty() ? !inner.empty() : inner.starts_with(outer + ".");
}

// Calls `function` in each backward pass when the gradient of y is ready, before it reaches
// what y was computed from: gives y, and all its handles, one more node.
void before_backward(const Tensor& y, const std::function<void()>& function) {
    if (!is_grad_enabled() || y.is_leaf()) return;
    const Tensor result = record("FullyShardedDataParallel", y, {y},
                                 [function](const Tensor& grad, const Node&) -> Grads {
                                     function();
                                     return {grad};
                                 });
    y.autograd_meta()->grad_fn = result.autograd_meta()->grad_fn;
}

}  // namespace

struct FullyShardedDataParallel::Impl {
    // The units of one forward pass, by the start and by the end of each call.
    struct Calls {
        std::vector<size_t> begun, ended;
    };

    // Finds the units, and which parameters belong to each.
    void find_units(const std::vector<std::string>& names);
    void add_parameters();

    // Moves the unit's parameters into its flat parameter, and keeps this rank's shard.
    void shard(Unit& unit);
    Tensor own_part(const Tensor& flat) const;

    // Gather a unit, which may be gathered already, and free it.
    void start_gather(size_t index);
    void finish_gather(size_t index);
    void free(size_t index);
    void free_all();

    // Called before and after the forward pass of a unit.
    void begin_forward(size_t index);
    void end_forward(size_t index, const Tensor& y);

    // Called when the gradient of the unit's result is ready, in call `number` of the pass.
    void begin_backward(size_t index, const Calls& calls, size_t number);

    // Called when the gradient of parameter `k` of the unit is ready.
    void on_gradient(size_t index, size_t k, Tensor parameter);
    void start_reduction(size_t index);
    void finish_reduction();
    void end_backward();

    // Returns this rank's shard; throws UsageError unless the old shards are those of a job.
    Tensor new_shard(const Unit& unit, const std::vector<Tensor>& old_shards) const;

    void add_hooks(size_t index);
    void forget_failed_pass();

    nn::Module& module;
    std::shared_ptr<dist::ProcessGroup> group;
    bool prefetch;
    std::vector<Unit> units = {};
    std::vector<std::function<void()>> to_remove = {};  // each removes a hook
    std::shared_ptr<Calls> calls = std::make_shared<Calls>();
    std::vector<size_t> expected = {};    // `begun` of the last forward pass
    std::optional<size_t> reducing = {};  // the unit whose reduction is not waited for
    std::weak_ptr<Impl> self = {};        // for graphs that outlive this object
    bool is_callback_queued = false;      // a backward pass has reached a unit
};

void FullyShardedDataParallel::Impl::find_units(const std::vector<std::string>& names) {
    const nn::NamedModules all = module.named_modules();
    units.push_back({.name = "", .module = &module});
    for (const std::string& name : names) {
        const auto found =
            std::ranges::find(all, name, &nn::NamedModules::value_type::first);
        if (name.empty() || found == all.end())
            throw UsageError(
                concat("FullyShardedDataParallel: on rank ", group->rank(), " unit \"",
                       name, "\" is not a submodule; named_modules() has the names"));
        units.push_back({.name = name, .module = found->second});
    }
    add_parameters();
    for (size_t i = 1; i < units.size(); ++i)
        if (units[i].parameters.empty())
            throw UsageError(concat("FullyShardedDataParallel: on rank ", group->rank(),
                                    " unit ", units[i].name,
                                    " has no parameters of its own; leave it out"));
    if (units[0].parameters.empty()) units.erase(units.begin());
}

void FullyShardedDataParallel::Impl::add_parameters() {
    std::map<const void*, size_t> owners;  // by parameter
    for (size_t i = 0; i < units.size(); ++i)
        for (const auto& [name, parameter] : units[i].module->named_parameters()) {
            size_t& owner = owners.try_emplace(parameter.id(), i).first->second;
            if (is_inside(units[i].name, units[owner].name)) owner = i;
            if (owner != i && !is_inside(units[owner].name, units[i].name))
                throw UsageError(concat("FullyShardedDataParallel: on rank ",
                                        group->rank(), " parameter ", units[i].name, ".",
                                        name, " is in unit ", units[owner].name,
                                        " and in unit ", units[i].name,
                                        "; name one unit that contains both"));
        }
    for (const auto& [name, parameter] : module.named_parameters()) {
        if (!parameter.requires_grad() || parameter.autograd_meta()->is_averaged)
            throw UsageError(concat(
                "FullyShardedDataParallel: on rank ", group->rank(), " parameter ", name,
                parameter.requires_grad() ? " is averaged by another wrapper; wrap once"
                                          : " is frozen; thaw it, or leave it out"));
        units[owners.at(parameter.id())].parameters.emplace_back(name, parameter);
    }
}

Tensor FullyShardedDataParallel::Impl::own_part(const Tensor& flat) const {
    const int64_t size = shard_numel(flat.numel(), group->world_size());
    return ops::narrow(flat, 0, group->rank() * size, size);
}

void FullyShardedDataParallel::Impl::shard(Unit& unit) {
    std::vector<Tensor> parameters;
    for (const auto& [name, parameter] : unit.parameters) {
        parameters.push_back(parameter);
        unit.numel += parameter.numel();
    }
    const int64_t size = shard_numel(unit.numel, group->world_size());
    unit.flat = parameters[0].new_zeros({size * group->world_size()});
    unit.views = views_of(unit.flat, parameters);
    for (size_t k = 0; k < parameters.size(); ++k) {
        ops::copy_(unit.views[k], parameters[k].detach());
        parameters[k].set_data(unit.views[k]);
    }
    group->broadcast(unit.flat, 0);
    unit.shard = ops::clone(own_part(unit.flat)).set_requires_grad();
    unit.flat.free_storage();
    unit.missing.resize(parameters.size());
}

// ---- gather and free

void FullyShardedDataParallel::Impl::start_gather(size_t index) {
    Unit& unit = units[index];
    if (std::exchange(unit.is_gathered, true)) return;
    group->events().record(EventKind::kGatherLaunch, static_cast<int64_t>(index),
                           static_cast<int64_t>(unit.flat.bytes()));
    unit.flat.allocate_storage();
    unit.gather = group->all_gather_into_tensor_async(unit.flat, unit.shard.detach());
    // The values are those of the shard: what autograd has saved is still right.
    unit.flat.set_version(unit.shard.version());
}

void FullyShardedDataParallel::Impl::finish_gather(size_t index) {
    Unit& unit = units[index];
    // Wait for the gather, which may have to be started.
    start_gather(index);
    if (!unit.gather) return;
    std::exchange(unit.gather, nullptr)->wait();
    group->events().record(EventKind::kGatherDone, static_cast<int64_t>(index),
                           static_cast<int64_t>(unit.flat.bytes()));
}

void FullyShardedDataParallel::Impl::free(size_t index) {
    Unit& unit = units[index];
    // Free the flat parameter; a gather that runs writes to it.
    if (!unit.is_gathered) return;
    finish_gather(index);
    unit.flat.free_storage();
    unit.is_gathered = false;
    group->events().record(EventKind::kUnitFree, static_cast<int64_t>(index),
                           static_cast<int64_t>(unit.flat.bytes()));
}

void FullyShardedDataParallel::Impl::free_all() {
    for (size_t index = 0; index < units.size(); ++index) free(index);
}

// ---- the forward pass

void FullyShardedDataParallel::Impl::begin_forward(size_t index) {
    finish_gather(index);
    // Start the gather of the next unit, if the calls are those of the last pass.
    const std::vector<size_t>& begun = calls->begun;
    calls->begun.push_back(index);
    if (prefetch && begun.size() < expected.size() &&
        std::equal(begun.begin(), begun.end(), expected.begin()))
        start_gather(expected[begun.size()]);
}

void FullyShardedDataParallel::Impl::end_forward(size_t index, const Tensor& y) {
    free(index);
    // Gather it again before the backward pass through it.
    calls->ended.push_back(index);
    before_backward(
        y, [self = self, index, calls = calls, number = calls->ended.size() - 1] {
            if (const auto impl = self.lock())
                impl->begin_backward(index, *calls, number);
        });
}

// ---- the backward pass

void FullyShardedDataParallel::Impl::begin_backward(size_t index, const Calls& pass,
                                                    size_t number) {
    Unit& unit = units[index];
    // Gather the unit, and expect a gradient of each parameter.
    if (!std::exchange(is_callback_queued, true))
        queue_callback([this] { end_backward(); });
    finish_gather(index);
    if (!unit.is_in_backward()) {
        unit.missing.assign(unit.missing.size(), true);
        unit.gradient = unit.shard.new_zeros({unit.flat.numel()});
        unit.gradients = views_of(unit.gradient, unit.views);
    }
    // Start the gather of the unit whose backward pass is next.
    if (prefetch && number > 0) start_gather(pass.ended[number - 1]);
}

void FullyShardedDataParallel::Impl::on_gradient(size_t index, size_t k,
                                                 Tensor parameter) {
    Unit& unit = units[index];
    MINI_CHECK(unit.missing[k], "FullyShardedDataParallel: on rank ", group->rank(),
               " parameter ", unit.parameters[k].first, " of unit ", unit.text(),
               " has a gradient, but not from the unit's result; use the parameter in "
               "the unit's forward() only");
    // Copy the average's summand; after the last, free the unit and reduce.
    ops::copy_(unit.gradients[k], parameter.grad());
    ops::mul_(unit.gradients[k], 1.0f / static_cast<float>(group->world_size()));
    parameter.set_grad({});
    unit.missing[k] = false;
    if (unit.is_in_backward()) return;
    free(index);
    start_reduction(index);
}

void FullyShardedDataParallel::Impl::start_reduction(size_t index) {
    Unit& unit = units[index];
    finish_reduction();
    group->events().record(EventKind::kReduceLaunch, static_cast<int64_t>(index),
                           static_cast<int64_t>(unit.gradient.bytes()));
    unit.reduction =
        group->reduce_scatter_tensor_async(own_part(unit.gradient), unit.gradient);
    reducing = index;
}

void FullyShardedDataParallel::Impl::finish_reduction() {
    if (!reducing) return;
    Unit& unit = units[*reducing];
    // Wait, add this rank's part to the shard's gradient, and free the rest.
    std::exchange(unit.reduction, nullptr)->wait();
    group->events().record(EventKind::kReduceDone, static_cast<int64_t>(*reducing),
                           static_cast<int64_t>(unit.gradient.bytes()));
    Tensor total = unit.shard.grad();
    if (total.defined())
        ops::add_(total, own_part(unit.gradient));
    else
        unit.shard.set_grad(ops::clone(own_part(unit.gradient)));
    unit.gradients.clear();
    unit.gradient = {};
    reducing.reset();
}

void FullyShardedDataParallel::Impl::end_backward() {
    is_callback_queued = false;
    for (const Unit& unit : units) {
        std::string names;
        for (size_t k = 0; k < unit.missing.size(); ++k)
            if (unit.missing[k]) names += " " + unit.parameters[k].first;
        MINI_CHECK(names.empty(), "FullyShardedDataParallel: on rank ", group->rank(),
                   " these parameters of unit ", unit.text(),
                   " took no part in the loss, so it cannot be reduced; make them a unit "
                   "of their own, which is then not called, or use them:",
                   names);
    }
    finish_reduction();
    free_all();
}

// ---- the module

FullyShardedDataParallel::FullyShardedDataParallel(nn::Module& module,
                                                   const std::vector<std::string>& units,
                                                   const FSDPOptions& options)
    : impl_(new Impl{
          .module = module,
          .group = options.process_group ? options.process_group : dist::default_group(),
          .prefetch = options.prefetch}) {
    register_module("module", module);
    impl_->self = impl_;
    impl_->find_units(units);
    check_same_parameters(*impl_->group,
                          {.who = "FullyShardedDataParallel",
                           .what = "parameters",
                           .remedy = "every rank must build the same module"},
                          module.named_parameters());
    if (!module.buffers().empty())
        broadcast_coalesced(*impl_->group, module.buffers(), 0);
    for (size_t index = 0; index < impl_->units.size(); ++index) {
        impl_->shard(impl_->units[index]);
        impl_->add_hooks(index);
    }
}

FullyShardedDataParallel::~FullyShardedDataParallel() {
    for (const auto& remove : impl_->to_remove) remove();
}

void FullyShardedDataParallel::Impl::add_hooks(size_t index) {
    Unit& unit = units[index];
    const int before = unit.module->register_forward_pre_hook(
        [this, index](nn::Module&, const Tensor&) { begin_forward(index); });
    const int after = unit.module->register_forward_hook(
        [this, index](nn::Module&, const Tensor&, const Tensor& y) {
            end_forward(index, y);
        });
    to_remove.push_back([of = unit.module, before, after] {
        of->remove_hook(before);
        of->remove_hook(after);
    });
    for (size_t k = 0; k < unit.parameters.size(); ++k) {
        const Tensor parameter = unit.parameters[k].second;
        const int id = grad_accumulator(parameter)->add_hook(
            [this, index, k](const Tensor& leaf) { on_gradient(index, k, leaf); });
        to_remove.push_back(
            [parameter, id] { grad_accumulator(parameter)->remove_hook(id); });
    }
}

void FullyShardedDataParallel::Impl::forget_failed_pass() {
    for (Unit& unit : units) {
        unit.missing.assign(unit.missing.size(), false);
        unit.gradients.clear();
        unit.gradient = {};
    }
    reducing.reset();
    is_callback_queued = false;
    free_all();
}

Tensor FullyShardedDataParallel::forward(const Tensor& x) {
    impl_->forget_failed_pass();
    impl_->expected = std::exchange(impl_->calls, std::make_shared<Impl::Calls>())->begun;
    impl_->group->events().record(EventKind::kForwardBegin);
    Tensor y = impl_->module(x);
    impl_->free_all();  // a unit that was gathered, but not called
    impl_->group->events().record(EventKind::kForwardEnd);
    return y;
}

std::vector<std::string> FullyShardedDataParallel::units() const {
    std::vector<std::string> names;
    for (const Unit& unit : impl_->units) names.push_back(unit.name);
    return names;
}

std::vector<Tensor> FullyShardedDataParallel::shards() const {
    std::vector<Tensor> shards;
    for (const Unit& unit : impl_->units) shards.push_back(unit.shard);
    return shards;
}

// ---- the state

nn::NamedTensors FullyShardedDataParallel::full_state_dict(int to) {
    nn::NamedTensors state = impl_->module.state_dict();
    // Gather each unit, and copy what is in it on rank `to`.
    const bool is_receiver = impl_->group->rank() == to;
    for (size_t index = 0; index < impl_->units.size(); ++index) {
        const Tensor flat = impl_->units[index].flat;
        impl_->finish_gather(index);
        for (auto& [name, tensor] : state)
            if (is_receiver && tensor.shares_storage(flat)) tensor = ops::clone(tensor);
        impl_->free(index);
    }
    if (!is_receiver) return {};
    for (const Tensor& buffer : impl_->module.buffers())
        for (auto& [name, tensor] : state)
            if (tensor.shares_storage(buffer)) tensor = ops::clone(tensor);
    return state;
}

void FullyShardedDataParallel::load_full_state_dict(const nn::NamedTensors& state) {
    for (Unit& unit : impl_->units) {
        unit.flat.allocate_storage();
        ops::fill_(unit.flat, 0.0f);
        unit.is_gathered = true;
    }
    try {
        impl_->module.load_state_dict(state);
    } catch (...) {
        impl_->free_all();
        throw;
    }
    for (const Unit& unit : impl_->units) {
        Tensor shard = unit.shard.detach();
        ops::copy_(shard, impl_->own_part(unit.flat));
    }
    impl_->free_all();
}

nn::NamedTensors FullyShardedDataParallel::sharded_state_dict() const {
    nn::NamedTensors state;
    for (const Unit& unit : impl_->units)
        state.emplace_back(unit.name, unit.shard.detach());
    for (const auto& buffer : impl_->module.named_buffers()) state.push_back(buffer);
    return state;
}

Tensor FullyShardedDataParallel::Impl::new_shard(
    const Unit& unit, const std::vector<Tensor>& old_shards) const {
    for (size_t rank = 0; rank < old_shards.size(); ++rank) {
        const auto ranks = static_cast<int>(old_shards.size());
        const int64_t size = shard_numel(unit.numel, ranks);
        const int64_t found = old_shards[rank].defined() ? old_shards[rank].numel() : 0;
        if (found != size)
            throw UsageError(concat("FullyShardedDataParallel: on rank ", group->rank(),
                                    " the state of rank ", rank, " of ", ranks, " has ",
                                    found, " elements of unit ", unit.text(), ", not ",
                                    size,
                                    "; pass the states of all its ranks, in order"));
    }
    return reshard(old_shards, unit.numel, group->rank(), group->world_size());
}

void FullyShardedDataParallel::load_sharded_state_dict(
    const std::vector<nn::NamedTensors>& by_rank) {
    const auto find = [](const nn::NamedTensors& state, const std::string& name) {
        const auto found =
            std::ranges::find(state, name, &nn::NamedTensors::value_type::first);
        return found == state.end() ? Tensor() : found->second;
    };
    std::vector<std::pair<Tensor, Tensor>> copies;  // to, from
    // Find the new shard of each unit; copy when all have been found.
    for (const Unit& unit : impl_->units) {
        std::vector<Tensor> shards;
        for (const auto& state : by_rank) shards.push_back(find(state, unit.name));
        copies.emplace_back(unit.shard.detach(), impl_->new_shard(unit, shards));
    }
    for (const auto& [name, buffer] : impl_->module.named_buffers())
        copies.emplace_back(buffer, find(by_rank.at(0), name));
    for (auto& [to, from] : copies) ops::copy_(to, from);
}

optim::OptimizerState FullyShardedDataParallel::reshard_optimizer_state(
    const std::vector<optim::OptimizerState>& by_rank) const {
    optim::OptimizerState state{.tensors = {}, .numbers = by_rank.at(0).numbers};
    for (size_t index = 0; index < impl_->units.size(); ++index)
        for (const auto& [name, tensor] : by_rank[0].tensors) {
            if (!name.starts_with(optim::state_name(index, ""))) continue;
            std::vector<Tensor> shards;
            for (const auto& each : by_rank) shards.push_back(each.tensors.at(name));
            state.tensors[name] = impl_->new_shard(impl_->units[index], shards);
        }
    return state;
}

}  // namespace mini::parallel
