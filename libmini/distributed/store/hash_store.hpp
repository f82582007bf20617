// A store inside one process, for ranks that are threads: a dictionary, a mutex, and a
// condition variable that is notified whenever a key changes.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Thread-safe; all threads use the same object (`torch.distributed.HashStore`).
class HashStore : public Store {
  public:
    using Store::wait;
    void wait(const std::vector<std::string>& keys, Deadline deadline) override;

  protected:
    std::string ask(protocol::Request request, Deadline deadline) override;
    std::string place() const override { return "the store of this process"; }

  private:
    /// Blocks until all keys exist; releases the lock while it blocks. If the deadline
    /// passes first, calls throw_missing("the store of this process", ...) with only the
    /// missing keys as `missing`. Does not throw if all keys exist, even if the deadline
    /// has passed. REQUIRES: `lock` holds mutex_. On return `lock` holds mutex_ again.
    void wait_locked(std::unique_lock<std::mutex>& lock,
                     const std::vector<std::string>& keys, Deadline deadline);

    std::mutex mutex_;
    std::condition_variable changed_;
    StoreTable table_;
};

}  // namespace mini::dist
