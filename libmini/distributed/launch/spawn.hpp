// Ranks as processes of this machine, started by a function call: for tests,
// measurements, and programs without a launcher.
//
//     dist::spawn([](int rank) { train(rank); }, 4);
//
//     parent   fork x 4 ---------------- waits ---------- throws RankFailed
//     rank 0          \-- fn(0) ----- exception, through a pipe --------/
//     rank 1           \- fn(1) ...
//
// A forked child has only the thread that called fork: a mutex that another thread has
// locked stays locked in the child forever. CUDA does not work in the child of a process
// that has used CUDA. So spawn throws if the process has other threads or has used CUDA.

#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "libmini/core/error.hpp"

namespace mini::dist {

/// A rank that spawn started has failed: "rank 2 failed: <its exception>" or "rank 2
/// (process 4711) was ended by SIGKILL". Or others failed because they waited for it: the
/// message has the error of one, after "rank 2 returned early: " unless rank 2 still runs.
class RankFailed : public Error {
  public:
    RankFailed(int rank, const std::string& message) : Error(message), rank_(rank) {}

    int rank() const { return rank_; }

  private:
    int rank_;
};

struct SpawnOptions {
    /// After a failure: how long the other ranks, which get SIGTERM, may take to end
    /// before they get SIGKILL.
    std::chrono::milliseconds grace = std::chrono::seconds(5);
};

/// Forks `world_size` processes, calls fn(rank) in each, and blocks until all have ended
/// (`torch.multiprocessing.spawn`). Sets the environment variables of minirun in each
/// (RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT with a free port,
/// MINI_STORE_COOKIE with a random cookie). If a rank throws or dies, ends the other
/// ranks and throws RankFailed for the rank that caused the failure. Throws UsageError if
/// this process has other threads or has used CUDA, or if `world_size` is below 1. No
/// rank outlives this process.
void spawn(const std::function<void(int rank)>& fn, int world_size,
           SpawnOptions options = {});

}  // namespace mini::dist
