// The program computes with the extras, as train_mnist does.

#include "libmini/extras/use_all.hpp"

namespace {

const bool used = [] {
    mini::extras::use_all();
    return true;
}();

}  // namespace
