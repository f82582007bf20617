#include "libmini/core/error.hpp"

#include <system_error>

namespace mini {

std::string system_message(const std::string& call, int error_number) {
    return concat(call, " failed: ", std::generic_category().message(error_number));
}

}  // namespace mini
