#include <cstdint>
#include <vector>

#include "libmini/extras/fast/conv_direct.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {

TEST_CASE("convolutions that the direct method cannot compute are left to the core") {
    struct Choice {
        ImageExtents in;
        Window window;
        bool is_direct;
    };
    const std::vector<Choice> choices = {
        {{2, 10, 12, 12}, {5, 1, 0}, true},  {{2, 64, 8, 8}, {3, 1, 1}, true},
        {{2, 32, 17, 17}, {3, 2, 1}, false}, {{2, 3, 14, 14}, {4, 1, 0}, false},
        {{2, 3, 14, 9}, {3, 1, 0}, false},   {{2, 3, 5, 15}, {3, 1, 0}, false}};
    for (const Choice& of : choices) {
        CAPTURE(of.in.H, of.in.W, of.window.kernel, of.window.stride);
        const ConvKernels* const method = faster_kernels().conv(of.in, of.window);
        CHECK((method != nullptr) == of.is_direct);
        if (method != nullptr) CHECK(method->forward == cpu::direct::conv2d);
    }
}

TEST_CASE("max pooling in 2 x 2 windows is computed by the registered kernel") {
    float y[4];
    int32_t indices[4];
    const float x[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const Window adjacent{2, 2, 0};
    PoolPlane* const pool = faster_kernels().pool(adjacent);
    REQUIRE(pool != nullptr);
    pool(y, indices, x, 4, 4, adjacent);
    CHECK(y[3] == 16);
    CHECK(indices[0] == 5);
    CHECK(faster_kernels().pool({2, 1, 0}) == nullptr);
    CHECK(faster_kernels().pool({3, 2, 1}) == nullptr);
}

}  // namespace mini::kernels
