// SubsetTransport: a transport among some ranks of another transport; the members get the
// numbers 0, 1, 2, ... So an algorithm can run among the ranks of one host, or among one
// rank of each host.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

class SubsetTransport : public Transport {
  public:
    /// REQUIRES: `members` lists ranks of `whole`, including this rank, and is equal on
    /// all members; a collective of `whole` has begun; `whole` outlives this object.
    SubsetTransport(Transport& whole, std::vector<int> members)
        : whole_(whole), members_(std::move(members)) {
        const auto me = std::ranges::find(members_, whole.rank());
        MINI_CHECK(me != members_.end(), "rank ", whole.rank(), " is not in the subset ",
                   members_);
        rank_ = static_cast<int>(me - members_.begin());
    }

    int rank() const override { return rank_; }
    int world_size() const override { return static_cast<int>(members_.size()); }
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const Combine& combine = {}) override {
        whole_.send_recv(member(to), out, member(from), in, combine);
    }
    void send(int to, std::span<const std::byte> out) override {
        whole_.send(member(to), out);
    }
    void recv(int from, std::span<std::byte> in, const Combine& combine = {}) override {
        whole_.recv(member(from), in, combine);
    }

  private:
    int member(int rank) const { return members_[static_cast<size_t>(rank)]; }

    Transport& whole_;
    std::vector<int> members_;
    int rank_ = -1;
};

}  // namespace mini::dist
