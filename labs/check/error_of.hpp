// The errors of a learner's code, for the checks of the labs.

#pragma once

#include <string>

#include "libmini/core/error.hpp"

namespace mini::labs {

/// Returns the message of the Error that `call` throws; "no error" if it throws none. An
/// unwritten task is not the error that a check asks for: NotImplemented propagates.
template <typename Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const NotImplemented&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace mini::labs
