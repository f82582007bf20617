#include "libmini/distributed/transport/subset_transport.hpp"

#include <algorithm>

namespace mini::dist {

SubsetTransport::SubsetTransport(Transport& whole, std::vector<int> members)
    : whole_(whole), members_(std::move(members)) {
    const auto me = std::ranges::find(members_, whole.rank());
    MINI_CHECK(me != members_.end(), "rank ", whole.rank(), " is not in the subset ",
               members_);
    rank_ = static_cast<int>(me - members_.begin());
}

}  // namespace mini::dist
