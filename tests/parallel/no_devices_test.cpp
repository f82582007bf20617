// Error messages on a machine without a GPU, or in a build without CUDA: every call that
// needs a GPU throws an error with the reason. The tag [.] excludes the case from a run
// of all cases; ctest runs it by name, with all devices hidden.

#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/parallel/data_parallel.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;

namespace {

const std::string kWhy = kHasCuda ? "this machine has no CUDA device: cudaError"
                                  : "this build has no CUDA devices; configure with "
                                    "MINI_CUDA=SIM or ON";

void run_on_default_cuda() {
    set_default_device(Device::cuda());
    dist::run_threads(2, [](dist::ProcessGroup&) {});
}

TEST_CASE("without a device calls that need one explain why they fail", "[.][cpu]") {
    REQUIRE(cuda_device_count() == 0);
    CHECK(message_of<UsageError>([] {
              Device::parse("cuda:1");
          }).starts_with(concat("device: there is no cuda:1; ", kWhy)));
    CHECK(contains(
        message_of([] { Tensor::empty({1}, DType::kFloat32, Device::cuda()); }), kWhy));
    CHECK(message_of(run_on_default_cuda)
              .starts_with(
                  concat("run_threads: the default device is cuda:0, but ", kWhy)));
    set_default_device(Device::cpu());

    Toy module;
    CHECK(message_of<UsageError>([&] {
              parallel::DataParallel(module, [] { return std::make_unique<Toy>(); },
                                     {.device_ids = std::vector{Device::cuda(0)}});
          }).starts_with(concat("DataParallel: there is no device cuda:0; ", kWhy)));
}

}  // namespace
