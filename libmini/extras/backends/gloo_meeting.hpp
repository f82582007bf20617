// The rendezvous of Gloo's ranks: through our store; for a subgroup, through the parent
// group.

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

/// Returns a context that is connected to all other ranks. Every rank must call this
/// function; blocks until this rank is connected, at most until the deadline. Throws
/// Gloo's exceptions. `local_host`: an address of this host that the other ranks can
/// reach.
ContextHandle connect_gloo(int rank, int world_size, Store& store,
                           const std::string& local_host, Deadline deadline);

/// The store of a subgroup: each member has a copy. REQUIRES: each member sets the same
/// number of keys before it gets any.
class MembersStore : public HashStore {
  public:
    MembersStore(const std::vector<int>& ranks, ProcessGroup& parent)
        : ranks_(ranks), parent_(parent) {}

    /// Sends the key and its value to all other members through the parent group, and
    /// receives one key from each; blocks until all members have called set().
    void set(const std::string& key, const std::string& value) override;

  private:
    std::vector<int> others() const;
    void receive_from(int peer);

    const std::vector<int>& ranks_;
    ProcessGroup& parent_;
};

}  // namespace mini::dist
