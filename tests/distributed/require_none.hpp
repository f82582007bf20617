// Checks the exceptions that on_ranks returns.

#pragma once

#include <cstddef>
#include <exception>
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

}  // namespace mini::dist::test
