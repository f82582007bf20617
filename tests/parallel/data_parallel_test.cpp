// DataParallel computes the same results as the module alone, copies what it must, and warns
// of uneven batches. The checks of lab 13 show its parts, and count the bytes of a step.

#include "libmini/parallel/data_parallel.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "libmini/core/log.hpp"
#include "libmini/nn/dropout.hpp"
#include "libmini/nn/models.hpp"
#include "tests/parallel/test_devices.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DataParallel;

namespace {

using Values = std::vector<float>;

int64_t threads_of_this_process() {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/task"), {});
}

// Waits until the kernel, some time after join(), has left `count` threads; at most 30 s.
bool threads_become(int64_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (threads_of_this_process() != count && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    return threads_of_this_process() == count;
}

// Only a dropout layer, so that the output shows the mask.
class Noise : public nn::Module {
  public:
    Noise() { register_module("drop", drop_); }
    Tensor forward(const Tensor& x) override { return drop_(x); }

  private:
    nn::Dropout drop_;
};

}  // namespace

TEST_CASE("a batch is split like torch.chunk", "[cpu]") {
    for (const auto& golden : golden_cases("chunks"))
        for (const auto& [chunks, sizes] : golden["sizes"].items()) {
            CAPTURE(golden["size"], chunks);
            CHECK(parallel::chunk_sizes(golden["size"], std::stoll(chunks)) ==
                  sizes.get<std::vector<int64_t>>());
        }
}

TEST_CASE("a CPU device above 0 prints its index", "[cpu]") {
    CHECK(concat(Device::cpu(), " ", Device::cpu(1), " ", Device::cuda(0)) ==
          "cpu cpu:1 cuda:0");
}

TEST_CASE("a ConvNet in eval mode trains the same on one device and on three") {
    if (!has_devices(3)) return;
    const auto gradients = [](int devices) {
        manual_seed(11);
        nn::ConvNet module;
        DataParallel net = parallel_over(module, devices);
        net.eval();
        const Tensor target = Tensor::from<int64_t>({1, 2, 3, 4, 5});
        cross_entropy(net(draw({5, 1, 28, 28}, 5)), target).backward();
        return flat_gradients(module);
    };
    CHECK(largest_difference(gradients(1), gradients(3)) <
          (default_device().is_cpu() ? 1e-6 : 1e-5));
}

TEST_CASE("dropout masks differ by device and depend on the caller's seed") {
    if (!has_devices(3)) return;
    Noise module;
    DataParallel net = parallel_over(module, 3);
    const Tensor ones = Tensor::ones({3, 64});
    manual_seed(1);
    const auto first = net(ones).to_vector<float>();
    const auto second = net(ones).to_vector<float>();
    manual_seed(1);
    CHECK(net(ones).to_vector<float>() == first);
    CHECK(first != second);

    const auto row = [&](int i) {
        return Values(first.begin() + i * 64, first.begin() + (i + 1) * 64);
    };
    CHECK(row(0) != row(1));
    CHECK(row(1) != row(2));
    CHECK(row(0) != row(2));

    // Device 0 draws the numbers that the module alone draws, and no other device draws
    // from the generator of device 0.
    manual_seed(1);
    CHECK(module(Tensor::ones({1, 64})).to_vector<float>() == row(0));
    const float next = default_generator().uniform_float();
    manual_seed(1);
    net(ones);
    CHECK(default_generator().uniform_float() == next);
}

TEST_CASE("building DataParallel does not draw from the caller's generator", "[cpu]") {
    Toy module;
    manual_seed(5);
    const float expected = default_generator().uniform_float();
    manual_seed(5);
    DataParallel net = parallel_over(module, 3);
    net(draw({3, 3}, 1));
    CHECK(default_generator().uniform_float() == expected);
}

TEST_CASE("a retained graph gives the same gradients again", "[cpu]") {
    Toy module;
    DataParallel net = parallel_over(module, 3);
    const Tensor loss = sum(net(draw({5, 3}, 1)));
    loss.backward({.gradient = {}, .retain_graph = true});
    const Values once = flat_gradients(module);
    net.zero_grad();
    loss.backward();
    CHECK(flat_gradients(module) == once);
    CHECK_THROWS_AS(loss.backward(), Error);
}

TEST_CASE("the graph may outlive DataParallel", "[cpu]") {
    Toy module;
    Tensor loss;
    {
        DataParallel net = parallel_over(module, 3);
        loss = sum(net(draw({5, 3}, 1)));
    }
    loss.backward();
    CHECK(flat_gradients(module).size() == 32);
}

TEST_CASE("no thread remains after DataParallel and its graphs are destroyed", "[cpu]") {
    std::thread([] {}).join();  // a sanitizer may start a thread when the first starts
    Toy module;
    const int64_t before = threads_of_this_process();
    {
        DataParallel net = parallel_over(module, 4);
        sum(net(draw({8, 3}, 1))).backward();
        CHECK(threads_become(before + 3));
    }
    CHECK(threads_become(before));
}

TEST_CASE("a step moves the bytes of the copies and of the rows away from device 0") {
    if (!has_devices(3)) return;
    Toy module;  // 128 bytes
    DataParallel alone = parallel_over(module, 1), net = parallel_over(module, 3);
    sum(alone(draw({6, 3}, 1))).backward();
    CHECK(alone.stats().total() == 0);
    sum(net(draw({7, 3}, 1))).backward();  // four of the rows are away
    CHECK(net.stats().bytes_scattered == 4 * (12 + 8));
    CHECK(net.stats().bytes_replicated == 2 * 128);
    CHECK(net.stats().bytes_gathered == 4 * 8);
    CHECK(net.stats().bytes_reduced == 2 * 128);
}

TEST_CASE("input and output may be on another device than the first") {
    if (!has_devices(2)) return;
    Toy alone, module;
    module.load_state_dict(alone.state_dict());
    const std::vector<Device> two = test_devices(2);
    DataParallel net(module, [] { return std::make_unique<Toy>(); },
                     {.device_ids = two, .output_device = two[1]});
    Tensor same_x = draw({5, 3}, 1).set_requires_grad();
    Tensor x = draw({5, 3}, 1).to(two[1]).set_requires_grad();
    const Tensor y = net(x);
    CHECK(y.device() == two[1]);
    CHECK(net.stats().bytes_gathered == 3 * 2 * 4);  // chunk 0 has three rows
    sum(y).backward();
    sum(alone(same_x)).backward();
    CHECK(x.grad().device() == two[1]);
    CHECK(largest_difference(x.grad().to_vector<float>(),
                             same_x.grad().to_vector<float>()) < 1e-5);
    CHECK(largest_difference(flat_gradients(module), flat_gradients(alone)) < 1e-5);
}

TEST_CASE("without device_ids all devices of the module's type are used") {
    Toy module;
    const DataParallel net(module, [] { return std::make_unique<Toy>(); });
    const auto processors = std::max(1u, std::thread::hardware_concurrency());
    CHECK(net.device_ids() == test_devices(default_device().is_cuda()
                                               ? cuda_device_count()
                                               : static_cast<int>(processors)));
}

TEST_CASE("a tensor that a replica creates without a device is on the replica's device") {
    if (!has_devices(3)) return;
    struct AddsOne : nn::Module {
        Tensor forward(const Tensor& x) override { return x + Tensor::ones({1}); }
    } module;
    DataParallel net = parallel_over(module, 3);
    CHECK(net(Tensor::from(Values{1, 2, 3})).to_vector<float>() == Values{2, 3, 4});
}

TEST_CASE("uneven batches cause one warning", "[cpu]") {
    Toy module;
    DataParallel net = parallel_over(module, 4);
    const auto text_of = [&](int64_t batch) {
        return written_to_stderr([&] { net(draw({batch, 3}, 1)); });
    };
    const logging::Level level = logging::level();
    logging::set_level(logging::Level::kWarning);
    const std::string even = text_of(8), uneven = text_of(9), again = text_of(9);
    logging::set_level(level);
    CHECK(even.empty());
    CHECK(uneven.find("device cpu gets 3 rows, but device cpu:3 0; a batch size that is "
                      "a multiple of 4") != std::string::npos);
    CHECK(again.empty());
}
