// Join: ranks with different numbers of batches train together to the end.
//
// A rank that has no more batches has joined. It goes on calling the others' collectives,
// with zeros, one iteration after the other, until no rank is active:
//
//     rank 0   [ batch 0 ] [ batch 1 ] [ batch 2 ] [ batch 3 ] | post_hook
//     rank 1   [ batch 0 ] [ batch 1 ] (main_hook) (main_hook) | post_hook
//     active        2           2           1           1      0
//
// The numbers in the last row are one small all-reduce before each iteration, one
// int64 a rank: 1 from a rank with a batch, 0 from one that has joined.
//
// Source: torch.distributed.algorithms.join.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::parallel {

struct JoinOptions {
    /// Off: run() only calls its body, and costs nothing.
    bool enable = true;

    /// Once a rank has joined, end on all ranks with an Error that names it.
    bool throw_on_early_termination = false;

    /// For the joinables: whether gradients are divided by the world size to the end, or
    /// by the number of ranks that had a batch.
    bool divide_by_initial_world_size = true;
};

/// What a joined rank does in place of an iteration (`JoinHook`).
class JoinHook {
  public:
    virtual ~JoinHook() = default;

    /// Calls the collectives of one iteration, in their order, with values that change
    /// nothing; once for each iteration of the ranks that are still active.
    virtual void main_hook() {}

    /// Called on every rank once all have joined. `is_last_joiner` says whether this
    /// rank was active in the last iteration; at least one was. When no rank had a
    /// batch it is true for all.
    virtual void post_hook(bool is_last_joiner) { static_cast<void>(is_last_joiner); }
};

/// How many ranks are in the iteration that begins: an all-reduce under way.
class ActiveRanks {
  public:
    ActiveRanks(dist::ProcessGroup& group, bool is_active);

    /// How many are active; by rank, whether it is. Both block until the number is known.
    int count();
    std::vector<bool> by_rank();

  private:
    Tensor active_;  // (world size) int64, 1 for an active rank
    dist::WorkHandle work_;
};

/// Something with collectives in each iteration that takes part in a Join (`Joinable`).
class Joinable {
  public:
    virtual ~Joinable() = default;

    /// A new hook, for one Join with these options.
    virtual std::unique_ptr<JoinHook> join_hook(const JoinOptions& options) = 0;

    /// The group of its collectives.
    virtual dist::ProcessGroup& join_process_group() = 0;

  private:
    friend class Join;
    bool notifies_ = false;  // within a Join, and its first joinable
    bool throws_ = false;
    int64_t iterations_ = 0;  // begun within this Join
};

/// The context (`torch.distributed.algorithms.Join`):
///
///     Join({&net, &optimizer}).run([&] {
///         for (const auto& batch : loader) { ... }
///     });
class Join {
  public:
    /// Throws UsageError when there is no joinable, or they are of several groups.
    /// REQUIRES: the joinables live as long as this object, and are in no other Join.
    explicit Join(std::vector<Joinable*> joinables, JoinOptions options = {});

    /// Calls `body`, then stands in for this rank until all ranks have come here; blocks
    /// until then, each wait with the group's timeout. What `body` throws passes at
    /// once, and leaves the others to that timeout. With throw_on_early_termination
    /// throws Error, on all ranks, naming the ranks that ended first and after how many
    /// iterations, unless all ended alike.
    void run(const std::function<void()>& body);

    /// What a joinable calls before the first collective of each iteration
    /// (`Join.notify_join_context`). Of the first joinable of a Join it starts counting
    /// the active ranks and returns that; for others, and outside of a Join, it does
    /// nothing and returns null. With throw_on_early_termination it blocks, and throws
    /// what run() does.
    static std::shared_ptr<ActiveRanks> notify_join_context(Joinable& joinable);

  private:
    void set_up(bool is_enabled);
    bool shadow_the_others();

    std::vector<Joinable*> joinables_;
    JoinOptions options_;
    dist::ProcessGroup& group_;
    std::vector<std::unique_ptr<JoinHook>> hooks_;
};

/// Copies the tensors of a rank that was active last, the highest of them, to all; what
/// a post_hook does with a model. Blocks; every rank calls it. The versions of the
/// tensors are counted up.
void broadcast_from_last_joiner(dist::ProcessGroup& group, bool is_last_joiner,
                                std::vector<Tensor> tensors);

}  // namespace mini::parallel
