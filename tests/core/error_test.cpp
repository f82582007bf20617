#include "libmini/core/error.hpp"

#include <cerrno>
#include <type_traits>

#include "tests/support/catch.hpp"

TEST_CASE("concat formats vectors like PyTorch sizes") {
    CHECK(mini::concat("x is ", std::vector<int>{4, 3}) == "x is (4, 3)");
    CHECK(mini::concat(std::vector<int>{5}, std::vector<int>{}) == "(5,)()");
    CHECK(mini::concat() == "");
}

TEST_CASE("MINI_CHECK throws its message if the condition is false") {
    const auto check = [](int rows) { MINI_CHECK(rows == 2, "rows: ", rows, ", not 2"); };
    CHECK_NOTHROW(check(2));
    CHECK_THROWS_AS(check(3), mini::Error);
    CHECK_THROWS_WITH(check(3), "rows: 3, not 2");
}

TEST_CASE("MINI_TODO throws NotImplemented with the task and its title") {
    const auto body = []() -> int { MINI_TODO("lab07.2", "Draw a number."); };
    CHECK_THROWS_AS(body(), mini::NotImplemented);
    CHECK_THROWS_WITH(body(),
                      "[lab07.2] not started: Draw a number.\n  write it, or move "
                      "work/07-* out of work/: libmini's own code then takes its place");
}

TEST_CASE("system_message has the failed call and the errno text") {
    CHECK(mini::system_message("open", ENOENT) ==
          "open failed: No such file or directory");
}

TEST_CASE(
    "every error class derives from mini::Error and PeerLost contains the lost rank") {
    CHECK(std::is_base_of_v<mini::Error, mini::ShapeError>);
    CHECK(std::is_base_of_v<mini::Error, mini::UsageError>);
    CHECK(std::is_base_of_v<mini::Error, mini::BadFile>);
    CHECK(std::is_base_of_v<mini::Error, mini::Timeout>);
    CHECK(std::is_base_of_v<mini::Error, mini::MismatchedCollective>);
    CHECK(std::is_base_of_v<mini::Error, mini::NotImplemented>);
    CHECK(mini::PeerLost(3, "rank 3 is gone").rank() == 3);
}
