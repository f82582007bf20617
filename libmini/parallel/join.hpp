// Join: training with uneven inputs, that is, a different number of batches per rank.
//
// A rank without further batches has joined; until then it is active. A joined rank
// continues to call the collectives of each iteration of the active ranks, with zeros,
// until no rank is active:
//
//     rank 0   [ batch 0 ] [ batch 1 ] [ batch 2 ] [ batch 3 ] | post_hook
//     rank 1   [ batch 0 ] [ batch 1 ] (main_hook) (main_hook) | post_hook
//     active        2           2           1           1      0
//
// One small all-reduce before each iteration tells all ranks which ranks are active; the
// last row is the number of these ranks. The all-reduced tensor has one int64 per rank: 1
// for an active rank, 0 for a joined rank.
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

    /// If true, all ranks throw Error when some ranks have joined and others have not.
    /// The message names the joined ranks.
    bool throw_on_early_termination = false;

    /// If true, the joinables always divide gradients by the world size; if false, by the
    /// number of active ranks.
    bool divide_by_initial_world_size = true;
};

/// The work that a joined rank does in place of an iteration (`JoinHook`).
struct JoinHook {
    /// Calls the collectives of one iteration, in the same order as the active ranks,
    /// with values that do not change the result. Called on a joined rank once for each
    /// iteration of the active ranks.
    std::function<void()> main_hook;

    /// Called once on every rank, after all ranks have joined. `is_last_joiner` is true
    /// if this rank was active in the last iteration. If no rank had a batch,
    /// `is_last_joiner` is true on all ranks. May be empty.
    std::function<void(bool is_last_joiner)> post_hook = nullptr;
};

/// An all-reduce in flight that counts the ranks active in the next iteration.
class ActiveRanks {
  public:
    /// Starts the all-reduce. `is_active` is true if this rank is active.
    ActiveRanks(dist::ProcessGroup& group, bool is_active);

    /// Returns the number of active ranks; blocks until the all-reduce is done.
    int count();

    /// Returns a vector whose element r is true if rank r is active; blocks until the
    /// all-reduce is done.
    std::vector<bool> by_rank();

  private:
    Tensor active_;  // (world size) int64, 1 for an active rank
    dist::WorkHandle work_;
};

class Join;

/// An object that calls collectives in each iteration and takes part in a Join
/// (`Joinable`).
class Joinable {
  public:
    virtual ~Joinable() = default;

    /// Returns a new hook, for one Join with these options.
    virtual JoinHook join_hook(const JoinOptions& options) = 0;

    /// Returns the process group of this object's collectives.
    virtual dist::ProcessGroup& join_process_group() = 0;

  private:
    friend class Join;
    Join* join_ = nullptr;    // the Join that runs
    int64_t iterations_ = 0;  // number of iterations begun within this Join
};

/// Runs a training loop with uneven inputs (`torch.distributed.algorithms.Join`):
///
///     Join({&net, &optimizer}).run([&] {
///         for (const auto& batch : loader) { ... }
///     });
class Join {
  public:
    /// Throws UsageError when `joinables` is empty, or when their process groups differ.
    /// REQUIRES: the joinables outlive this object, and take part in no other Join at the
    /// same time; each iteration uses every joinable once, in the order of the list: a
    /// module runs forward() and backward() before the next joinable begins.
    explicit Join(std::vector<Joinable*> joinables, JoinOptions options = {});

    /// Calls `body`, then the main hooks until all ranks have joined, then the post
    /// hooks. Blocks until all ranks have joined; each wait has the group's timeout.
    /// Rethrows an exception of `body` immediately; the other ranks then wait until the
    /// timeout. With throw_on_early_termination, throws Error on all ranks unless all
    /// ranks join after the same iteration; the message names the ranks that joined
    /// first, and the number of their iterations.
    void run(const std::function<void()>& body);

    /// Starts the count of the active ranks and returns it, if `joinable` is the first
    /// joinable of a running Join; otherwise does nothing and returns null. Every
    /// joinable must call this function before the first collective of each iteration
    /// (`Join.notify_join_context`). With throw_on_early_termination, blocks until the
    /// count is known, and throws the same Error as run().
    static std::shared_ptr<ActiveRanks> notify_join_context(Joinable& joinable);

    /// Returns the active ranks of the current iteration, for any joinable of a running
    /// Join, also in its main_hook(); null outside of a Join. Throws UsageError within a
    /// Join before the first joinable of the list has begun an iteration.
    static std::shared_ptr<ActiveRanks> active_ranks(const Joinable& joinable);

  private:
    bool shadow_the_others();

    std::vector<Joinable*> joinables_;
    JoinOptions options_;
    dist::ProcessGroup& group_;
    std::vector<JoinHook> hooks_;
    std::shared_ptr<ActiveRanks> active_;  // in the current iteration
    bool has_joined_ = false;              // this rank has no further batch
};

/// Copies `tensors` from the highest rank whose `is_last_joiner` is true to all ranks; a
/// post_hook calls this function with the tensors of a model. Blocks until done; every
/// rank must call this function. Increments the version of each tensor.
void broadcast_from_last_joiner(dist::ProcessGroup& group, bool is_last_joiner,
                                std::vector<Tensor> tensors);

}  // namespace mini::parallel
