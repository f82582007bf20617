// The program reads the variables of all launchers, and files.

#include "libmini/extras/launchers/launchers.hpp"

namespace {

const bool used = [] {
    mini::dist::use_launchers();
    return true;
}();

}  // namespace
