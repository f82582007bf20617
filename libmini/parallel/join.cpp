#include "libmini/parallel/join.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "libmini/core/log.hpp"
#include "libmini/core/text.hpp"

namespace mini::parallel {
namespace {

constexpr int64_t kManyIterations = 1000;  // shadowed before a warning, as in PyTorch

dist::ProcessGroup& common_group(const std::vector<Joinable*>& joinables) {
    if (joinables.empty())
        throw UsageError(
            "Join: the list of joinables is empty; pass one, such as a model");
    dist::ProcessGroup& group = joinables.front()->join_process_group();
    for (size_t i = 1; i < joinables.size(); ++i)
        if (&joinables[i]->join_process_group() != &group)
            throw UsageError("Join: joinable ", i,
                             " is of another process group than joinable 0; "
                             "use one Join for each group");
    return group;
}

// Throws Error when some ranks have joined and others have not; all ranks throw.
void throw_if_uneven(const std::vector<bool>& active, int64_t iterations, int rank) {
    std::vector<std::string> joined, others;
    for (size_t i = 0; i < active.size(); ++i)
        (active[i] ? others : joined).push_back(concat("rank ", i));
    if (joined.empty() || others.empty()) return;
    throw Error("Join: ", join(joined), " ran out of batches after ", iterations,
                " iterations, while ", join(others), " continued; noticed on rank ", rank,
                " (throw_on_early_termination is set)");
}

}  // namespace

ActiveRanks::ActiveRanks(dist::ProcessGroup& group, bool is_active)
    : active_(Tensor::zeros({group.world_size()}, DType::kInt64, Device::cpu())) {
    active_.span<int64_t>()[static_cast<size_t>(group.rank())] = is_active ? 1 : 0;
    work_ = group.all_reduce_async(active_);
}

std::vector<bool> ActiveRanks::by_rank() {
    work_->wait();
    const auto flags = active_.to_vector<int64_t>();
    return {flags.begin(), flags.end()};
}

int ActiveRanks::count() { return static_cast<int>(std::ranges::count(by_rank(), true)); }

Join::Join(std::vector<Joinable*> joinables, JoinOptions options)
    : joinables_(std::move(joinables)),
      options_(options),
      group_(common_group(joinables_)) {}

void Join::run(const std::function<void()>& body) {
    if (!options_.enable) return body();

    hooks_.clear();
    for (Joinable* const joinable : joinables_)
        hooks_.push_back(joinable->join_hook(options_));

    // The joinables take part until the end, even if the body throws.
    const auto end = [](Join* join) {
        join->active_ = nullptr;
        for (Joinable* const joinable : join->joinables_) joinable->join_ = nullptr;
    };
    const std::unique_ptr<Join, decltype(end)> running(this, end);
    for (Joinable* const joinable : joinables_) {
        joinable->join_ = this;
        joinable->iterations_ = 0;
    }
    has_joined_ = false;
    body();
    has_joined_ = true;
    const bool is_last_joiner = shadow_the_others();
    for (const JoinHook& hook : hooks_)
        if (hook.post_hook) hook.post_hook(is_last_joiner);
}

// Calls the main hooks until all ranks have joined. Returns true if no other rank was
// active when this rank joined.
bool Join::shadow_the_others() {
    for (int64_t alone = 0;; ++alone) {
        active_ = std::make_shared<ActiveRanks>(group_, false);
        if (active_->count() == 0) return alone == 0;
        if (options_.throw_on_early_termination)
            throw_if_uneven(active_->by_rank(), joinables_.front()->iterations_,
                            group_.rank());
        if (alone == kManyIterations)
            logging::warning(
                "Join: rank ", group_.rank(), " has had ", kManyIterations,
                " batches fewer than ranks that are still active; distribute "
                "the data more evenly");
        for (const JoinHook& hook : hooks_) hook.main_hook();
    }
}

std::shared_ptr<ActiveRanks> Join::notify_join_context(Joinable& joinable) {
    Join* const join = joinable.join_;
    if (join == nullptr || join->has_joined_) return nullptr;
    if (&joinable != join->joinables_.front()) return nullptr;
    join->active_ = std::make_shared<ActiveRanks>(join->group_, true);
    if (join->options_.throw_on_early_termination)
        throw_if_uneven(join->active_->by_rank(), joinable.iterations_,
                        join->group_.rank());
    ++joinable.iterations_;
    return join->active_;
}

std::shared_ptr<ActiveRanks> Join::active_ranks(const Joinable& joinable) {
    if (joinable.join_ == nullptr) return nullptr;
    if (joinable.join_->active_ == nullptr)
        throw UsageError(
            "Join: the first joinable of the list must begin each iteration; list the "
            "joinables in the order in which the loop uses them");
    return joinable.join_->active_;
}

void broadcast_from_last_joiner(dist::ProcessGroup& group, bool is_last_joiner,
                                std::vector<Tensor> tensors) {
    Tensor last = Tensor::full({1}, is_last_joiner ? group.rank() : -1, DType::kInt64,
                               Device::cpu());
    group.all_reduce(last, dist::ReduceOp::kMax);
    const int root = static_cast<int>(last.item());

    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& tensor : tensors)
        under_way.push_back(group.broadcast_async(tensor, root));
    for (const auto& work : under_way) work->wait();
    for (Tensor& tensor : tensors) tensor.bump_version();
}

}  // namespace mini::parallel
