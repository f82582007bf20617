// Starts threads, and reports a failure as a mini::Error.

#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini {

/// Starts a thread. Throws Error, with advice, when the system cannot start one.
template <typename Body>
std::thread start_thread(Body body) {
    try {
        return std::thread(std::move(body));
    } catch (const std::system_error& error) {
        throw Error("cannot start a thread: ", error.what(),
                    "; use fewer ranks or threads, or raise ulimit -u");
    }
}

}  // namespace mini
