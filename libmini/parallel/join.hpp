// Join: training with uneven inputs, that is, a different number of batches per rank.
//
// A rank that has no more batches has joined. It continues to call the other ranks'
// collectives, with zeros, iteration by iteration, until no rank is active:
//
//     rank 0   [ batch 0 ] [ batch 1 ] [ batch 2 ] [ batch 3 ] | post_hook
//     rank 1   [ batch 0 ] [ batch 1 ] (main_hook) (main_hook) | post_hook
//     active        2           2           1           1      0
//
// The last row is computed by one small all-reduce before each iteration, of one int64
// per rank: 1 from a rank with a batch, 0 from a rank that has joined.
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
    /// If false, run() only calls its body, at no extra cost.
    bool enable = true;

    /// Once a rank has joined, throw on all ranks an Error that names it.
    bool throw_on_early_termination = false;

    /// For the joinables: if true, gradients are always divided by the world size;
    /// otherwise by the number of ranks that still have a batch.
    bool divide_by_initial_world_size = true;
};

/// The work of a joined rank in place of an iteration (`JoinHook`).
class JoinHook {
  public:
    virtual ~JoinHook() = default;

    /// Calls the collectives of one iteration, in the same order, with values that do not
    /// change the result; called once for each iteration of the ranks that are still
    /// active.
    virtual void main_hook() {}

    /// Called on every rank once all have joined. `is_last_joiner` is true if this rank
    /// was active in the last iteration, and true on all ranks if no rank had a batch; so
    /// it is true on at least one rank.
    virtual void post_hook(bool is_last_joiner) { static_cast<void>(is_last_joiner); }
};

/// The number of ranks active in the iteration that begins: an all-reduce in flight.
class ActiveRanks {
  public:
    ActiveRanks(dist::ProcessGroup& group, bool is_active);

    /// Returns the number of active ranks; blocks until the all-reduce is done.
    int count();

    /// Returns for each rank whether it is active; blocks until the all-reduce is done.
    std::vector<bool> by_rank();

  private:
    Tensor active_;  // (world size) int64, 1 for an active rank
    dist::WorkHandle work_;
};

/// An object that calls collectives in each iteration and takes part in a Join
/// (`Joinable`).
class Joinable {
  public:
    virtual ~Joinable() = default;

    /// A new hook, for one Join with these options.
    virtual std::unique_ptr<JoinHook> join_hook(const JoinOptions& options) = 0;

    /// The group of its collectives.
    virtual dist::ProcessGroup& join_process_group() = 0;

  private:
    friend class Join;
    bool notifies_ = false;  // within a Join, as its first joinable
    bool throws_ = false;
    int64_t iterations_ = 0;  // begun within this Join
};

/// The context of uneven inputs (`torch.distributed.algorithms.Join`):
///
///     Join({&net, &optimizer}).run([&] {
///         for (const auto& batch : loader) { ... }
///     });
class Join {
  public:
    /// Throws UsageError when `joinables` is empty, or has members of several groups.
    /// REQUIRES: the joinables outlive this object, and are in no other Join.
    explicit Join(std::vector<Joinable*> joinables, JoinOptions options = {});

    /// Calls `body`, then runs the main hooks until all ranks have joined; blocks until
    /// then, each wait with the group's timeout. An exception of `body` is rethrown
    /// immediately; the other ranks then wait until that timeout. With
    /// throw_on_early_termination throws Error, on all ranks, naming the ranks that
    /// joined first and after how many iterations, unless all joined after the same
    /// iteration.
    void run(const std::function<void()>& body);

    /// A joinable calls this before the first collective of each iteration
    /// (`Join.notify_join_context`). For the first joinable of a Join it starts the count
    /// of the active ranks and returns it; for the other joinables, and outside of a
    /// Join, it does nothing and returns null. With throw_on_early_termination it blocks,
    /// and throws the same Error as run().
    static std::shared_ptr<ActiveRanks> notify_join_context(Joinable& joinable);

  private:
    void set_up(bool is_enabled);
    bool shadow_the_others();

    std::vector<Joinable*> joinables_;
    JoinOptions options_;
    dist::ProcessGroup& group_;
    std::vector<std::unique_ptr<JoinHook>> hooks_;
};

/// Copies the tensors of the highest rank with is_last_joiner to all ranks; a post_hook
/// calls it for a model. Blocks; every rank must call it. Increments the versions of the
/// tensors.
void broadcast_from_last_joiner(dist::ProcessGroup& group, bool is_last_joiner,
                                std::vector<Tensor> tensors);

}  // namespace mini::parallel
