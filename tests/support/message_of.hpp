// What an error says.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::test {

/// The message of the E that `body` throws; "" when it throws nothing. Others pass through.
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
