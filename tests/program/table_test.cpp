#include "libmini/program/table.hpp"

#include "tests/support/catch.hpp"

using mini::aligned;

TEST_CASE("columns are as wide as their longest cell, and numbers end below each other") {
    CHECK(aligned({{"name", "us"}, {"a", "1.50"}, {"longer", "120.00"}}) ==
          "name        us\n"
          "a         1.50\n"
          "longer  120.00\n");
    CHECK(aligned({{"a", "bb"}, {"aa", "b"}}, 2, 1) == "a  bb\naa b \n");
}

TEST_CASE("a row may have fewer cells than others, and a table no rows") {
    CHECK(aligned({{"x"}, {"y", "10"}}) == "x\ny  10\n");
    CHECK(aligned({}).empty());
}
