// Store: a small dictionary that all ranks share while they look for one another.
//
//     rank 0:  set("mesh/0", "127.0.0.1:41873")
//     rank 1:  get("mesh/0")                         waits for it
//     all:     add("joined", 1) == world_size        is true for the last one only
//
// Values are bytes that nobody interprets, but for add, which keeps decimal numbers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/dist/deadline.hpp"

namespace mini::dist {

/// What ranks meet at (`torch.distributed.Store`). Every wait throws Timeout naming the
/// keys that were missing, and PeerLost(0) when the process that keeps the store is gone.
class Store {
  public:
    virtual ~Store() = default;

    /// Sets a key, new or not.
    virtual void set(const std::string& key, const std::string& value) = 0;

    /// The value of a key; blocks until somebody has set it.
    virtual std::string get(const std::string& key, Deadline deadline) = 0;

    /// Adds to a number that starts at 0 and returns the sum; no two calls get in
    /// between.
    virtual int64_t add(const std::string& key, int64_t amount) = 0;

    /// Blocks until all keys exist.
    virtual void wait(const std::vector<std::string>& keys, Deadline deadline) = 0;

    /// Whether a key exists now.
    virtual bool check(const std::string& key) = 0;
};

}  // namespace mini::dist
