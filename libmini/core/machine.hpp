// Host name, environment, and random digits that cannot be predicted.

#pragma once

#include <string>

namespace mini {

/// Returns the name of this host; "?" when it has none.
std::string host_name();

/// Returns the value of an environment variable; "" when it is not set.
std::string environment(const std::string& name);

/// Returns `digits` random hexadecimal digits, at most 256, from the kernel's random
/// number generator. Throws Error when the kernel's generator fails.
std::string random_hex(int digits);

}  // namespace mini
