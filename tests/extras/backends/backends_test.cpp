// Errors of the backends over third-party libraries that need no second rank.

#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE("backend nccl without a GPU throws immediately") {
    if (!is_available("nccl")) {
        WARN("this build has no backend nccl");
        return;
    }
    const std::string text = failure_of([] {
        init_process_group({.backend = "nccl",
                            .init_method = concat("tcp://127.0.0.1:", free_port()),
                            .rank = 0,
                            .world_size = 1});
    });
    CAPTURE(text);
    const bool has_gpu = text.empty();
    if (has_gpu) {
        for (const Device device : {Device::cpu(), Device::cuda()}) {
            const Tensor numbers = Tensor::ones({8}, DType::kFloat32, device);
            default_group()->all_reduce(numbers);
            CHECK(numbers.to(Device::cpu()).to_vector<float>() ==
                  std::vector<float>(8, 1.0f));
        }
        destroy_process_group();
    } else {
        CHECK(contains(text, "backend nccl: this host has no GPU that CUDA can use"));
    }
}
