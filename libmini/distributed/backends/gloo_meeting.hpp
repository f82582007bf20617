// The rendezvous of Gloo's ranks: through our store, or, for a subgroup, through its
// parent group.

#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/rendezvous/rendezvous.hpp"
#include "libmini/distributed/store/hash_store.hpp"

namespace mini::dist {

using ContextHandle = std::shared_ptr<gloo::Context>;

/// Connects all ranks; every rank must call it. Blocks until the deadline at the latest;
/// throws Gloo's exceptions. `local_host`: an address of this host that the other ranks
/// can reach.
ContextHandle connect_gloo(int rank, int world_size, Store& store,
                           const std::string& local_host, Deadline deadline);

/// The store of a subgroup: set() sends the key to all members through the parent group.
/// REQUIRES: all members set the same number of keys before they get any.
class MembersStore : public HashStore {
  public:
    MembersStore(const std::vector<int>& ranks, ProcessGroup& parent)
        : ranks_(ranks), parent_(parent) {}

    void set(const std::string& key, const std::string& value) override;

  private:
    std::vector<int> others() const;
    void receive_from(int peer);

    const std::vector<int>& ranks_;
    ProcessGroup& parent_;
};

}  // namespace mini::dist
