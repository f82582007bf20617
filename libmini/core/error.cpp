#include "libmini/core/error.hpp"

#include <system_error>

namespace mini {

std::string system_message(const std::string& call, int error_number) {
    return concat(call, " failed: ", std::generic_category().message(error_number));
}

void not_implemented(const char* task, const char* title) {
    throw NotImplemented(concat('[', task, "] not started: ", title));
}

}  // namespace mini
