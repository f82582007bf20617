// Checks the exceptions that on_ranks returns.

#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist::test {

/// Requires that no rank has thrown; otherwise reports the first rank and its exception.
inline void require_none(const std::vector<std::exception_ptr>& failures) {
    for (size_t rank = 0; rank < failures.size(); ++rank) {
        INFO("rank " << rank << ": " << text_of(failures[rank]));
        REQUIRE(failures[rank] == nullptr);
    }
}

/// Calls body(group, rank) on one thread per group, which are those of all ranks; requires
/// that none throws.
template <typename Body>
void on_each(const std::vector<std::shared_ptr<QueuedGroup>>& groups, const Body& body) {
    require_none(on_ranks(static_cast<int>(groups.size()), [&](int rank) {
        body(*groups[static_cast<size_t>(rank)], rank);
    }));
}

}  // namespace mini::dist::test
