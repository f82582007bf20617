// Sets the default device of a test program from the environment: MINI_TEST_DEVICE=cuda.

#include "libmini/tensor/device.hpp"

#include <cstdlib>

namespace mini {
namespace {

const bool chosen = [] {
    const char* const device = std::getenv("MINI_TEST_DEVICE");
    if (device != nullptr) set_default_device(Device::parse(device));
    return device != nullptr;
}();

}  // namespace
}  // namespace mini
