// Catch2 for ranks: transports as generators, and the exceptions that on_ranks returns.

#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
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

/// Returns one kind of make_transports after another, and adds it to the messages of the case.
inline std::string any_transport() {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    UNSCOPED_INFO("over " << kind);
    return kind;
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
