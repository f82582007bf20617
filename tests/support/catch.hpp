// Includes Catch2: version 2 (Debian 12) or 3 (Debian 13), with the names of version 3.

#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch::Matchers {
using Catch::WithinAbs;
using Catch::WithinRel;

inline auto ContainsSubstring(const std::string& part) { return Catch::Contains(part); }
}  // namespace Catch::Matchers
#endif
