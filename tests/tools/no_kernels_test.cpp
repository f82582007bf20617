// `mini kernels` in a build that cannot count.

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/tools/answer.hpp"

TEST_CASE("mini kernels in a build that cannot count explains how to configure one") {
    for (const char* arguments : {"kernels", "kernels relu", "kernels --list"}) {
        const mini::test::Answer answer = mini::test::run_mini(arguments);
        CAPTURE(answer.text);
        CHECK(answer.code == 2);
        CHECK(mini::test::contains(answer.text, "configure with -DMINI_CUDA=SIM"));
    }
}
