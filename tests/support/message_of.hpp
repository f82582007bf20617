// Returns the message of an error that code throws.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::test {

/// Returns the message of the exception of type E that `body` throws, or "" if `body`
/// throws no exception. Exceptions of other types propagate.
template <typename E = Error, typename Body>
std::string message_of(const Body& body) {
    try {
        body();
    } catch (const E& error) {
        return error.what();
    }
    return "";
}

}  // namespace mini::test
