// A store inside one process, for ranks that are threads: a dictionary, a mutex, and a
// condition variable that is notified whenever a key changes.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// Thread-safe; all threads use the same object (`torch.distributed.HashStore`).
class HashStore : public Store {
  protected:
    std::string ask(protocol::Request request, Deadline deadline) override;
    std::string place() const override { return "the store of this process"; }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    StoreTable table_;
};

}  // namespace mini::dist
