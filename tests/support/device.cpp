// Runs a test program on another device: MINI_TEST_DEVICE=cuda makes it the default
// device.

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
