#include "libmini/parallel/fsdp.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "libmini/autograd/engine.hpp"
#include "libmini/distributed/group/current_group.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"

// [lab21 file]
namespace mini::parallel {

// Decides when each unit is gathered, freed and reduced.
struct FullyShardedDataParallel::Impl {
    // The units of one forward pass, by the start and by the end of each call.
    struct Calls {
        std::vector<size_t> begun, ended;
    };

    // Called before and after the forward pass of a unit.
    void begin_forward(size_t index);
    void end_forward(size_t index, const Tensor& y);

    // Called when the gradient of the unit's result is ready, in call `number` of the pass.
    void begin_backward(size_t index, const Calls& pass, size_t number);

    // Called when the gradient of parameter `k` of the unit is ready; and after the last.
    void on_gradient(size_t index, size_t k, Tensor parameter);
    void end_backward();

    std::vector<Unit>& units;
    bool prefetch;
    std::weak_ptr<Impl> self = {};  // for graphs that outlive this object
    std::shared_ptr<Calls> calls = std::make_shared<Calls>();
    std::vector<size_t> expected = {};              // `begun` of the last forward pass
    bool is_callback_queued = false;                // a backward pass has reached a unit
    std::vector<std::shared_ptr<void>> hooks = {};  // of each unit
};

FullyShardedDataParallel::FullyShardedDataParallel(nn::Module& module,
                                                   const std::vector<std::string>& units,
                                                   const FSDPOptions& options)
    : module_(module),
      group_(options.process_group ? options.process_group : dist::default_group()),
      units_(find_units(module, units, group_)),
      impl_(new Impl{.units = units_, .prefetch = options.prefetch}) {
    impl_->self = impl_;
    // [lab21.4] Register the module, send rank 0's buffers, shard each unit, add its hooks.
    register_module("module", module);
    if (!module.buffers().empty()) broadcast_coalesced(*group_, module.buffers(), 0);
    for (size_t index = 0; index < units_.size(); ++index) {
        units_[index].shard_parameters();
        Impl* const impl = impl_.get();
        impl->hooks.push_back(add_hooks(
            units_[index], [=] { impl->begin_forward(index); },
            [=](const Tensor& y) { impl->end_forward(index, y); },
            [=](size_t k, const Tensor& leaf) { impl->on_gradient(index, k, leaf); }));
    }
    // [lab21.4]
}

Tensor FullyShardedDataParallel::forward(const Tensor& x) {
    impl_->expected = std::exchange(impl_->calls, std::make_shared<Impl::Calls>())->begun;
    // [lab21.4] Forget a backward pass that has failed, then call the module.
    impl_->is_callback_queued = false;
    for (Unit& unit : units_) {
        unit.drop_gradients();
        unit.free();
    }
    group_->events().record(EventKind::kForwardBegin);
    Tensor y = module_(x);
    for (Unit& unit : units_) unit.free();  // one that was gathered, but not called
    group_->events().record(EventKind::kForwardEnd);
    return y;
    // [lab21.4]
}

void FullyShardedDataParallel::Impl::begin_forward(size_t index) {
    // [lab21.4] Gather the unit.
    units[index].finish_gather();
    // [lab21.4]
    if (!prefetch) return;
    // [lab21.5] Gather the next unit, if the calls are those of the last pass.
    const std::vector<size_t>& begun = calls->begun;
    calls->begun.push_back(index);
    if (begun.size() < expected.size() &&
        std::equal(begun.begin(), begun.end(), expected.begin()))
        units[expected[begun.size()]].start_gather();
    // [lab21.5]
}

void FullyShardedDataParallel::Impl::end_forward(size_t index, const Tensor& y) {
    // [lab21.4] Free the unit, and let its backward pass gather it again.
    units[index].free();
    calls->ended.push_back(index);
    const size_t number = calls->ended.size() - 1;
    before_backward(y, self, [this, index, pass = calls, number] {
        begin_backward(index, *pass, number);
    });
    // [lab21.4]
}

void FullyShardedDataParallel::Impl::begin_backward(size_t index, const Calls& pass,
                                                    size_t number) {
    // [lab21.4] Gather the unit, and expect a gradient of each parameter.
    if (!std::exchange(is_callback_queued, true))
        queue_callback([this] { end_backward(); });
    units[index].finish_gather();
    units[index].expect_gradients();
    // [lab21.4]
    if (!prefetch) return;
    // [lab21.5] Gather the unit whose backward pass is next.
    if (number > 0) units[pass.ended[number - 1]].start_gather();
    // [lab21.5]
}

void FullyShardedDataParallel::Impl::on_gradient(size_t index, size_t k,
                                                 Tensor parameter) {
    Unit& unit = units[index];
    // [lab21.4] Take the gradient; after the last one, free the unit and reduce.
    unit.check_missing(k);
    unit.take_gradient(k, parameter.grad());
    parameter.set_grad({});
    if (!unit.missing.empty()) return;
    unit.free();
    for (Unit& other : units) other.finish_reduction();
    unit.start_reduction();
    // [lab21.4]
}

void FullyShardedDataParallel::Impl::end_backward() {
    // [lab21.4] No gradient may be missing. Finish the last reduction, and free all units.
    is_callback_queued = false;
    for (const Unit& unit : units) unit.check_complete();
    for (Unit& unit : units) {
        unit.finish_reduction();
        unit.free();
    }
    // [lab21.4]
}

std::vector<std::string> FullyShardedDataParallel::units() const {
    std::vector<std::string> names;
    for (const Unit& unit : units_) names.push_back(unit.name);
    return names;
}

std::vector<Tensor> FullyShardedDataParallel::shards() const {
    std::vector<Tensor> shards;
    for (const Unit& unit : units_) shards.push_back(unit.shard);
    return shards;
}

}  // namespace mini::parallel
// [lab21 file]
