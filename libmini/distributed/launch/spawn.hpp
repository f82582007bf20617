// Ranks as processes of this machine, started by a function call: what a test, a notebook
// of measurements or a program without a launcher uses.
//
//     dist::spawn([](int rank) { train(rank); }, 4);
//
//     parent   fork x 4 ---------------- waits ---------- rethrows the first failure
//     rank 0          \-- fn(0) --- what it threw goes through a pipe --/
//     rank 1           \- fn(1) ...
//
// A forked child has only the thread that forked: whatever other threads held locked stays
// locked in it for ever; and CUDA does not work in the child of a process that has used it. So
// spawn refuses to run beside other threads, and after any question to CUDA.

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::dist {

/// A rank that spawn started has failed: "rank 2 failed: <what it threw>" or "rank 2
/// (process 4711) was ended by SIGKILL".
class RankFailed : public Error {
  public:
    RankFailed(int rank, const std::string& message) : Error(message), rank_(rank) {}

    int rank() const { return rank_; }

  private:
    int rank_;
};

struct SpawnOptions {
    /// After the first failure: how long the other ranks have to end on SIGTERM.
    std::chrono::milliseconds grace = std::chrono::seconds(5);
};

/// Forks `world_size` processes, each with the environment that minirun would give it
/// (RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT with a free port,
/// MINI_STORE_COOKIE with a random cookie), calls fn(rank) in each, and blocks until all
/// have ended. Throws UsageError when this process has other threads or has used CUDA, or
/// for a world size below 1. When a rank throws or dies, ends the others and throws RankFailed for the one
/// that was the cause. No rank outlives this process
/// (`torch.multiprocessing.spawn`).
void spawn(const std::function<void(int rank)>& fn, int world_size,
           SpawnOptions options = {});

}  // namespace mini::dist
