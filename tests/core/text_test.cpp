#include "libmini/core/text.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using mini::rank_list;
using mini::with_commas;

TEST_CASE("with_commas inserts a comma every three digits from the right") {
    CHECK(with_commas(0) == "0");
    CHECK(with_commas(999) == "999");
    CHECK(with_commas(1000) == "1,000");
    CHECK(with_commas(60000) == "60,000");
    CHECK(with_commas(-123) == "-123");
    CHECK(with_commas(-1234567) == "-1,234,567");
    CHECK(with_commas(INT64_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("rank_list formats a list of ranks as text") {
    CHECK(rank_list({2}) == "rank 2");
    CHECK(rank_list({0, 3}) == "ranks 0 and 3");
    CHECK(rank_list({0, 1, 3}) == "ranks 0, 1 and 3");
    CHECK(rank_list({2, 3, 4, 5}) == "ranks 2, 3, 4 and 5");
    CHECK(rank_list({2, 3, 4, 5, 6}) == "ranks 2 to 6");
    CHECK(rank_list({3, 0}) == "ranks 3 and 0");
    CHECK(rank_list({2, 6, 4, 3, 5, 1, 8}) == "ranks 2, 6, 4, 3, 5, 1 and 8");
    CHECK(rank_list({0, 2, 3, 4, 5, 6}) == "ranks 0, 2, 3, 4, 5 and 6");
}
