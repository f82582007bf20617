#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/checker.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"
#include "tests/extras/cudasim/patterns.hpp"
#include "tests/support/catch.hpp"

namespace mini::sim {
namespace {

using Catch::Matchers::ContainsSubstring;
using mini::bugs::Floats;

// Returns the counters of the last launch.
LaunchCounters last(Counting& counting) {
    REQUIRE_FALSE(counting.log().launches().empty());
    return counting.log().launches().back();
}

TEST_CASE("the sectors that a copy loads depend on the stride of its lanes") {
    struct Expected {
        int stride, count;
        size_t instructions, sectors;
        double efficiency;
    };
    const auto expected = GENERATE(values<Expected>({
        {1, 128, 4, 128 * 4 / 32, 1.0},  // one instruction for each warp
        {2, 64, 2, 16, 0.5},
        {32, 64, 2, 64, 0.125},  // a sector for each float
        {0, 32, 1, 1, 0.125},    // all lanes load one address, 4 bytes
        {1, 40, 2, 5, 1.0},      // the second warp has inactive lanes
    }));
    CAPTURE(expected.stride, expected.count);
    const Floats x(32 * 64), out(128);
    Counting counting;
    patterns::strided_copy(out.get(), x.get(), expected.stride, expected.count);
    const LaunchCounters counters = last(counting);
    CHECK(counters.kernel == "strided_copy_kernel");
    CHECK(counters.global_loads.instructions == expected.instructions);
    CHECK(counters.global_loads.cost == expected.sectors);
    CHECK(counters.global_loads.efficiency() == expected.efficiency);
    CHECK(counters.global_stores.efficiency() == 1.0);
}

TEST_CASE("a thread loads or stores a float4 with one access") {
    const Floats x(128), out(128);
    Counting counting;
    patterns::vector_copy(out.get(), x.get(), 32);
    CHECK(last(counting).global_loads.instructions == 1);
    CHECK(last(counting).global_loads.efficiency() == 1.0);
    CHECK(last(counting).global_stores.instructions == 1);
}

TEST_CASE(
    "a column of a 32 x 32 tile has 32-way bank conflicts unless the rows are padded") {
    const Floats x(32 * 32), out(32 * 32);
    Counting counting;
    patterns::transpose_tile(out.get(), x.get(), false);
    const Traffic conflicts = last(counting).shared_loads;
    CHECK(conflicts.instructions == 32);
    CHECK(conflicts.cost == 32 * 32);
    CHECK(conflicts.least == 32);
    CHECK(last(counting).shared_stores.cost == last(counting).shared_stores.least);

    patterns::transpose_tile(out.get(), x.get(), true);
    CHECK(last(counting).shared_loads.cost == last(counting).shared_loads.least);
}

TEST_CASE("the sums of batch norm use nearly every byte fetched", "[large]") {
    const int64_t space = GENERATE(1, 8, 16, 64);
    CAPTURE(space);
    const kernels::ChannelExtents at{.N = 128, .C = 64, .space = space};
    const Floats x(at.N * at.C * space), mean(at.C), variance(at.C);
    Counting counting;
    kernels::cuda::channel_moments(mean.get(), variance.get(), x.get(), at, nullptr);
    // Below 1, because each channel's first number is also read separately.
    CHECK(last(counting).global_loads.efficiency() > 0.9);
}

TEST_CASE("barriers are counted per block and atomics per thread") {
    const Floats total(1);
    Counting counting;
    patterns::count_threads(reinterpret_cast<int*>(total.get()), 3, 50);
    CHECK(last(counting).barriers == 6);
    CHECK(last(counting).atomics == 150);
}

// Returns the text of the loads or stores of one kind of memory, of a launch with one
// source line of this kind.
std::string line_text(const LaunchCounters& launch, Mode mode, bool shared) {
    std::string text;
    for (const auto& [line, traffic] : traffic_by_line(launch))
        if (std::get<Mode>(line) == mode && std::get<bool>(line) == shared)
            text += describe(line, traffic);
    return text;
}

TEST_CASE("a line that wastes sectors is told, with the threads of the worst access") {
    const Floats x(32 * 64), out(64);
    Counting counting;
    patterns::strided_copy(out.get(), x.get(), 2, 64);
    const std::string loads = line_text(last(counting), Mode::kRead, false);
    CHECK_THAT(loads,
               ContainsSubstring("patterns.cu:") &&
                   ContainsSubstring("loads, global memory: 16 sectors of 32 bytes; "
                                     "8 would hold the data\n"
                                     "    worst: block 0, threads 0 to 31: 8 sectors "
                                     "of 32 bytes; 4 would hold the data\n"
                                     "    thread 0 at byte 0, thread 1 at byte 8, "
                                     "thread 2 at byte 16, thread 3 at byte 24, ..."));
    CHECK(line_text(last(counting), Mode::kWrite, false)
              .ends_with("stores, global memory: 8 sectors of 32 bytes"));
}

TEST_CASE("a line with bank conflicts is told, with threads of one bank") {
    const Floats x(32 * 32), out(32 * 32);
    Counting counting;
    patterns::transpose_tile(out.get(), x.get(), false);
    const std::string loads = line_text(last(counting), Mode::kRead, true);
    CHECK_THAT(loads, ContainsSubstring(
                          "1024 passes over the banks; 32 would do without conflicts\n"
                          "    worst: block 0, threads 0 to 31: 32 passes"));
    CHECK(
        loads.ends_with("one bank: thread 0 word 0, thread 1 word 32, thread 2 word 64, "
                        "thread 3 word 96, ..."));
    patterns::transpose_tile(out.get(), x.get(), true);
    CHECK(line_text(last(counting), Mode::kRead, true)
              .ends_with("loads, shared memory: 32 passes over the banks"));
}

TEST_CASE("a training step of the ConvNet launches few kernels", "[large]") {
    const Tensor x = Tensor::ones({4, 1, 28, 28}).to(Device::cuda(0));
    const Tensor target = Tensor::zeros({4}, DType::kInt64).to(x.device());
    nn::ConvNet net;
    net.to(x.device());
    const std::vector<Tensor> p = net.parameters();
    optim::SGD optimizer(p, {.lr = 0.01, .momentum = 0.5});

    // Lists the kernels since the last call.
    Counting counting;
    size_t count = 0;
    std::string list;
    const auto add = [&](const std::string& layer) {
        list += layer + ":";
        const auto& launches = counting.log().launches();
        for (; count < launches.size(); ++count) list += " " + launches[count].kernel;
        list += "\n";
    };
    const auto after = [&](const std::string& layer, const Tensor& y) {
        add(layer);
        return record("after", y, {y}, [&, layer](const Tensor& g, const Node&) -> Grads {
            add("backward, to the result of " + layer);
            return {g};
        });
    };
    Tensor y = after("conv1", conv2d(x, p[0], p[1]));
    y = after("relu1", relu(after("pool1", max_pool2d(y, 2))));
    y = after("dropout2d", dropout2d(after("conv2", conv2d(y, p[2], p[3])), 0.5, true));
    y = after("relu2", relu(after("pool2", max_pool2d(y, 2))));
    y = after("relu3", relu(after("fc1", linear(view(y, {-1, 320}), p[4], p[5]))));
    y = after("fc2", linear(after("dropout", dropout(y, 0.5, true)), p[6], p[7]));
    after("cross_entropy", cross_entropy(y, target)).backward();
    add("backward, conv1");
    optimizer.step();
    add("optimizer");
    CAPTURE(list);
    CHECK(count <= 55);

    // The layers above are those of the ConvNet.
    optimizer.zero_grad();
    cross_entropy(net(x), target).backward();
    optimizer.step();
    CHECK(counting.log().launches().size() == 2 * count);
}

}  // namespace
}  // namespace mini::sim
