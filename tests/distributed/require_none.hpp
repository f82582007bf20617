// What tests demand of the ranks that on_ranks has run.

#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

namespace mini::dist::test {

/// That no rank threw; the first that did is named with what it threw.
inline void require_none(const std::vector<std::exception_ptr>& failures) {
    for (size_t rank = 0; rank < failures.size(); ++rank) {
        INFO("rank " << rank << ": " << text_of(failures[rank]));
        REQUIRE(failures[rank] == nullptr);
    }
}

}  // namespace mini::dist::test
