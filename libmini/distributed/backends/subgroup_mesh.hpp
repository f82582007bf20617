// The mesh of a subgroup. The members exchange their addresses through the parent group, so
// no store has to stay open.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/transport/mesh.hpp"

namespace mini::dist {

/// The store of a subgroup: each member has a copy. REQUIRES: each member sets the same
/// number of keys before it gets any; both references outlive this object.
class MembersStore : public HashStore {
  public:
    /// `ranks`: the members, as ranks of `parent`.
    MembersStore(const std::vector<int>& ranks, ProcessGroup& parent)
        : ranks_(ranks), parent_(parent) {}

    /// Sends the key and its value to all other members through the parent group, and
    /// receives one key from each; blocks until all members have called set().
    void set(const std::string& key, const std::string& value) override;

  private:
    void receive_from(int peer);

    const std::vector<int>& ranks_;
    ProcessGroup& parent_;
};

/// Connects `ranks` of `parent`; returns the mesh, or std::nullopt on other ranks. Each
/// member listens on its `local_host`. Every member must call this function; blocks until
/// the member is connected. Throws as connect_mesh does.
std::optional<Mesh> connect_members(const std::vector<int>& ranks, ProcessGroup& parent,
                                    const Cookie& cookie, const std::string& local_host,
                                    Medium medium = Medium::kAuto);

}  // namespace mini::dist
