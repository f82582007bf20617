// The error messages of DataParallel, and DataParallel's use after an error.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/parallel/test_devices.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DataParallel;

namespace {

// forward throws if the row is 50; backward throws if the row is above 100.
class ThrowsOnRow : public nn::Module {
  public:
    ThrowsOnRow() { register_parameter("weight", Tensor::ones({1})); }
    Tensor forward(const Tensor& x) override {
        const float row = x.to_vector<float>().front();
        if (row == 50) throw std::runtime_error("no error of ours");
        return record("throws_on_row", ops::clone(x), {parameters().front()},
                      [row](const Tensor&, const Node&) -> Grads {
                          MINI_CHECK(row <= 100, "the gradient of row ", row, " is lost");
                          return {Tensor::ones({1})};
                      });
    }
};

Tensor rows(const std::vector<float>& values) {
    return Tensor::from(values, {static_cast<int64_t>(values.size()), 1});
}

}  // namespace

TEST_CASE("an exception of another type names the replica and its device too", "[cpu]") {
    ThrowsOnRow module;
    DataParallel net = parallel_over(module, 3);
    CHECK(message_of([&] {
              net(rows({1, 50, 3}));
          }) == "Caught exception in replica 1 on device cpu:1. no error of ours");
    CHECK(net(rows({1, 2, 3})).to_vector<float>() == std::vector<float>{1, 2, 3});
}

TEST_CASE("after an error in a backward pass DataParallel stays usable", "[cpu]") {
    ThrowsOnRow module;
    DataParallel net = parallel_over(module, 4);
    const int64_t replica = GENERATE(0, 3);
    CAPTURE(replica);
    std::vector<float> values{1, 2, 3, 4};
    values[static_cast<size_t>(replica)] = 200;
    CHECK(message_of([&] { sum(net(rows(values))).backward(); }) ==
          "the gradient of row 200 is lost");
    module.zero_grad();
    sum(net(rows({1, 2, 3, 4}))).backward();
    CHECK(module.parameters().front().grad().item() == 4);
}

TEST_CASE("a module that is not on the first device is rejected", "[cpu]") {
    struct Astray : nn::Module {
        Astray() {
            register_buffer("mean", Tensor::zeros({1}, DType::kFloat32, Device::cpu(1)));
        }
        Tensor forward(const Tensor& x) override { return x; }
    } module;
    DataParallel net(module, [] { return std::make_unique<Astray>(); },
                     {.device_ids = test_devices(2)});
    CHECK(message_of([&] {
              net(rows({1, 2}));
          }) ==
          "DataParallel: module must have its parameters and buffers on device cpu "
          "(device_ids[0]) but found one of them, mean, on device: cpu:1");
}

TEST_CASE("a factory that builds a different module or no module is rejected", "[cpu]") {
    nn::Linear module(2, 3);
    const auto message = [&](const parallel::ModuleFactory& make) {
        DataParallel net(module, make, {.device_ids = test_devices(2)});
        return message_of([&] { net(Tensor::zeros({2, 2})); });
    };
    CHECK(message([] { return std::make_unique<nn::Linear>(2, 4); }) ==
          "DataParallel: parameter 0 of the module is weight, float32 (3, 2), but in one "
          "from make_replica weight, float32 (4, 2); it must build the same module");
    CHECK(
        message([] {
            return std::make_unique<nn::Linear>(2, 3, nn::LinearOptions{.bias = false});
        }) ==
        "DataParallel: the module has 2 parameters, but one from make_replica has 1; it "
        "must build the same module");
    CHECK(message([] { return nullptr; }) ==
          "DataParallel: make_replica built no module");
    CHECK(message([]() -> std::unique_ptr<nn::Module> { throw Error("no plan"); }) ==
          "Caught Error in replica 1 on device cpu:1. no plan");
}

TEST_CASE("devices that do not exist or are listed twice are rejected", "[cpu]") {
    Toy module;
    const auto message = [&](std::vector<Device> devices) {
        return message_of<UsageError>([&] {
            DataParallel(module, [] { return std::make_unique<Toy>(); },
                         {.device_ids = devices});
        });
    };
    CHECK(message({Device::cpu(0), Device::cpu(1), Device::cpu(0)}) ==
          "DataParallel: device_ids has cpu more than once; list each device once");
    CHECK(message({Device::cpu(0), Device::cuda(99)}) ==
          concat("DataParallel: there is no device cuda:99; ", cuda_device_count_text(),
                 ", and Device::cpu(i) is always there"));
    if (cuda_device_count() > 0)
        CHECK(
            message({Device::cpu(0), Device::cuda(0)}) ==
            "DataParallel: device_ids has both cpu and cuda:0; use devices of one kind");
}
