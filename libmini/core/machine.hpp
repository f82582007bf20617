// What the machine gives: its name, and random digits that cannot be guessed.

#pragma once

#include <string>

namespace mini {

/// The name of this host; "?" when it has none.
std::string host_name();

/// `digits` random hexadecimal digits, at most 256, from the kernel's generator. Throws
/// Error when it gives none.
std::string random_hex(int digits);

}  // namespace mini
