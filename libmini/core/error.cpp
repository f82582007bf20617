#include "libmini/core/error.hpp"

#include <system_error>

namespace mini {

std::string system_message(const std::string& call, int error_number) {
    return concat(call, " failed: ", std::generic_category().message(error_number));
}

void not_implemented(const char* task, const char* title) {
    const std::string_view lab(task + 3, 2);  // of "lab07.2"
    throw NotImplemented("[", task, "] not started: ", title,
                         "\n  write it, or move work/", lab,
                         "-* out of work/: libmini's own code then takes its place");
}

}  // namespace mini
