// The message of an error.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::test {

/// Returns the message of the E that `body` throws; "" if it throws no exception. Other
/// exceptions propagate.
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
