// The bytes that DataParallel moves between devices, and its warning for uneven batches.

#include <cstdint>
#include <memory>
#include <string>

#include "libmini/core/log.hpp"
#include "tests/parallel/cpu_devices.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DataParallel;

TEST_CASE("the statistics of a step count the bytes copied between devices", "[cpu]") {
    // Toy has 32 parameters, 128 bytes; x is (6, 3), y is (6, 2), on 3 devices.
    Toy module;
    DataParallel net = parallel_over(module, 3);
    Tensor x = draw({6, 3}, 1);
    x.set_requires_grad();
    const Tensor y = net(x);
    CHECK(net.stats().bytes_scattered == 2 * 2 * 3 * 4);
    CHECK(net.stats().bytes_replicated == 2 * 128);
    CHECK(net.stats().bytes_gathered == 2 * 2 * 2 * 4);
    CHECK(net.stats().bytes_reduced == 0);

    sum(y).backward();
    CHECK(net.stats().bytes_scattered == 48 + 2 * 2 * 2 * 4);  // plus dL/dy
    CHECK(net.stats().bytes_gathered == 32 + 2 * 2 * 3 * 4);   // plus dL/dx
    CHECK(net.stats().bytes_reduced == 2 * 128);
    CHECK(net.stats().total() == 80 + 256 + 80 + 256);
}

TEST_CASE("one device copies nothing and output_device may differ from the first device",
          "[cpu]") {
    Toy module;
    DataParallel alone = parallel_over(module, 1);
    sum(alone(draw({6, 3}, 1))).backward();
    CHECK(alone.stats().total() == 0);

    DataParallel net(module, [] { return std::make_unique<Toy>(); },
                     {.device_ids = cpu_devices(2), .output_device = Device::cpu(1)});
    const Tensor y = net(draw({5, 3}, 1));
    CHECK(y.device() == Device::cpu(1));
    CHECK(net.stats().bytes_gathered == 3 * 2 * 4);  // chunk 0 has three rows
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
