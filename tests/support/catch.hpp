// Catch2 as Debian 12 (v2) and Ubuntu 24.04 (v3) ship it, under one name.

#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
namespace Catch::Matchers {
using Catch::Contains;
using Catch::WithinAbs;
using Catch::WithinRel;
}  // namespace Catch::Matchers
#endif
