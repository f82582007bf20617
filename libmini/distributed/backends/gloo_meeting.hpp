// How gloo's ranks find each other: by our stores, or by way of a group that exists.

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

/// Connects all ranks; every one calls it. Blocks until the deadline at the
/// latest; throws what gloo throws. `local_host` is an address of this host that the
/// others reach.
ContextHandle connect_gloo(int rank, int world_size, Store& store,
                           const std::string& local_host, Deadline deadline);

/// The store of a subgroup: what one member sets, all have, by way of the group that
/// exists. REQUIRES: all members set equally many keys before they ask for any.
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
