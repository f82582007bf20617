// The program's kernels are those of extras/fast.

#include "libmini/extras/fast/fast.hpp"

namespace {

const bool used = [] {
    mini::fast::use();
    return true;
}();

}  // namespace
