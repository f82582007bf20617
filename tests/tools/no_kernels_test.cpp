// `mini kernels` in a build that cannot count memory accesses.

#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/answer.hpp"

TEST_CASE("without access counts mini kernels names the CMake option that enables them") {
    for (const char* arguments : {"kernels", "kernels relu", "kernels --list"}) {
        const mini::test::Answer answer = mini::test::run_mini(arguments);
        CAPTURE(answer.text);
        CHECK(answer.code == 2);
        CHECK(mini::test::contains(answer.text, "configure with -DMINI_CUDA=SIM"));
    }
}
