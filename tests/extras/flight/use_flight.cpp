// The groups of the program are recorded, as those of train_mnist.

#include "libmini/extras/flight/flight.hpp"

namespace {

const bool used = [] {
    mini::flight::use();
    return true;
}();

}  // namespace
