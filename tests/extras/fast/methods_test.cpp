#include <vector>

#include "libmini/extras/fast/conv_direct.hpp"
#include "libmini/kernels/kernels.hpp"
#include "libmini/kernels/registry.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {

TEST_CASE("each convolution has the fastest method that can compute it") {
    struct Choice {
        ImageExtents in;
        Window window;
        char name;  // 'd'irect, 'm'any channels, or 'c'ore
    };
    const std::vector<Choice> choices = {
        {{2, 31, 12, 12}, {5, 1, 0}, 'd'}, {{2, 32, 8, 8}, {3, 1, 1}, 'm'},
        {{2, 32, 17, 17}, {3, 2, 1}, 'm'}, {{2, 64, 8, 8}, {1, 2, 0}, 'm'},
        {{2, 64, 8, 9}, {1, 1, 0}, 'c'},   {{2, 3, 14, 14}, {4, 1, 0}, 'c'},
        {{2, 3, 14, 9}, {3, 1, 0}, 'c'},   {{2, 3, 5, 15}, {3, 1, 0}, 'c'}};
    for (const auto& [in, window, name] : choices) {
        CAPTURE(in.C, in.H, in.W, window.kernel, window.stride);
        const ConvKernels* const method = faster_kernels().conv(in, window);
        const bool is_direct = method && method->forward == cpu::direct::conv2d;
        CHECK((!method ? 'c' : is_direct ? 'd' : 'm') == name);
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
