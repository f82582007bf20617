// The checks of lab 05, task 05.3: the gradient of the bias.

#include <cstdint>
#include <vector>

#include "labs/05-convnet/test_support.hpp"
#include "libmini/kernels/kernels.hpp"

using namespace mini;
using namespace mini::lab05;
namespace cpu = kernels::cpu;

TEST_CASE("the gradient of the bias is the sum of g over images and positions",
          "[lab05][lab05.3]") {
    const Convolution of{{2, 1, 1, 3}, 2, {1, 1, 0}};
    const Values g{1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000};
    Values dw = unwritten(of.w_size()), dbias = unwritten(of.O);
    cpu::conv2d_backward_weight(dw.data(), dbias.data(), g.data(), Values(6, 0).data(),
                                of.in, of.O, of.window);
    INFO("g (2, 2, 1, 3): image 0 has 1 2 3 in channel 0 and 10 20 30 in channel 1,");
    INFO("image 1 has 100 200 300 and 1000 2000 3000");
    INFO("expected 606 6060, got " << rows_of(dbias, 2) << "; hint 2 of 05.3");
    CHECK(dbias == Values{606, 6060});
}

TEST_CASE("the gradient of the bias of many images and channels", "[lab05][lab05.3]") {
    const Convolution of{{9, 2, 12, 10}, 7, {3, 1, 0}};
    const Values g = small_integers(of.y_size(), 1), x = small_integers(of.x_size(), 2);
    Values expected(static_cast<size_t>(of.O));
    for (int64_t i = 0; i < of.y_size(); ++i)
        expected[i / (of.Ho() * of.Wo()) % of.O] += g[i];
    Values dw = unwritten(of.w_size()), dbias = unwritten(of.O);
    cpu::conv2d_backward_weight(dw.data(), dbias.data(), g.data(), x.data(), of.in, of.O,
                                of.window);
    INFO(of.in_words());
    check_equal("dbias", dbias, expected, {of.O});
}
