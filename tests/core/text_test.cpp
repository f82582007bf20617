#include "libmini/core/text.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using mini::with_commas;

TEST_CASE("numbers get a comma every three digits, counted from the back") {
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(999) == "999");
    CHECK(with_commas(1000) == "1,000");
    CHECK(with_commas(60000) == "60,000");
    CHECK(with_commas(-123) == "-123");
    CHECK(with_commas(-1234567) == "-1,234,567");
    CHECK(with_commas(INT64_MIN) == "-9,223,372,036,854,775,808");
}
