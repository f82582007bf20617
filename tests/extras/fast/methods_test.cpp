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

TEST_CASE("max pooling that the kernel for 2 x 2 cannot compute is left to the core") {
    const auto pool = faster_kernels().pool;
    CHECK(pool({1, 1, 8, 8}, {2, 2, 0}) != nullptr);
    CHECK(pool({1, 1, 4, 8}, {2, 2, 0}) != nullptr);
    CHECK(pool({1, 1, 2, 8}, {2, 2, 0}) == nullptr);  // 4 windows
    CHECK(pool({1, 1, 8, 12}, {2, 2, 0}) == nullptr);
    CHECK(pool({1, 1, 9, 8}, {2, 2, 0}) == nullptr);
    CHECK(pool({1, 1, 8, 8}, {2, 1, 0}) == nullptr);
    CHECK(pool({1, 1, 8, 8}, {3, 2, 1}) == nullptr);
}

}  // namespace mini::kernels
