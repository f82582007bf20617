#include "libmini/parallel/ddp.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mini::parallel {
namespace {

// What the next iteration of a Join communicates. Active ranks and joined ranks agree on
// one plan.
struct Plan {
    bool sends_buffers = false;
    bool averages = false;
    int root = 0;  // the lowest active rank
};

Plan agree_on(const Plan& mine, bool is_active, dist::ProcessGroup& group) {
    const int64_t below = group.world_size() - group.rank();
    const std::vector<int64_t> flags = {mine.sends_buffers ? 1 : 0, mine.averages ? 1 : 0,
                                        is_active ? below : 0};
    const Tensor all = cpu_tensor(flags);
    group.all_reduce(all, dist::ReduceOp::kMax);
    const auto agreed = all.to_vector<int64_t>();
    return {agreed[0] != 0, agreed[1] != 0,
            group.world_size() - static_cast<int>(agreed[2])};
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::Module& module,
                                                 const DDPOptions& options)
    : ReplicatedModule(module, options.process_group, options.broadcast_buffers),
      reducer_(trained(), options, group()) {}

void DistributedDataParallel::register_comm_hook(CommHook hook) {
    if (!hook) throw UsageError("register_comm_hook: the hook is empty");
    if (std::exchange(has_comm_hook_, true))
        throw UsageError(
            "register_comm_hook: a hook is already registered; register only one");
    if (reducer_.buckets().have_begun())
        throw UsageError(
            "register_comm_hook: the hook must be registered before the first iteration");
    reducer_.set_comm_hook(std::move(hook));
}

int DistributedDataParallel::begin_iteration(bool sends_buffers, bool averages) {
    Join::notify_join_context(*this);
    divide_by_active_ranks();
    if (!Join::active_ranks(*this)) return 0;
    return agree_on({sends_buffers, averages}, /*is_active=*/true, group()).root;
}

void DistributedDataParallel::divide_by_active_ranks() {
    const auto active = Join::active_ranks(*this);
    reducer_.divide_by(active && divides_by_active_ ? active->count()
                                                    : group().world_size());
}

// ---- uneven inputs

JoinHook DistributedDataParallel::join_hook(const JoinOptions& options) {
    divides_by_active_ = !options.divide_by_initial_world_size;
    const auto has_averages = std::make_shared<bool>(false);
    return {.main_hook = [=, this] { *has_averages |= shadow_iteration(); },
            .post_hook =
                [=, this](bool is_last_joiner) {
                    broadcast_from_last_joiner(group(), is_last_joiner, state());

                    // Clear the averages that the shadowed iterations left: a training
                    // loop that calls zero_grad() only after step() would add new
                    // gradients to these averages.
                    if (*has_averages) zero_grad();
                }};
}

// Takes part in one iteration of the active ranks. Returns whether it averaged.
bool DistributedDataParallel::shadow_iteration() {
    divide_by_active_ranks();
    const Plan plan = agree_on({}, /*is_active=*/false, group());
    if (plan.sends_buffers) broadcast_buffers(plan.root);
    follow_forward(plan.averages);
    if (plan.averages) reducer_.shadow_iteration();
    return plan.averages;
}

}  // namespace mini::parallel
