// Catch2 of Debian 12 (version 2) and of Debian 13 (version 3), with the names of version
// 3.

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
