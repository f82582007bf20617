// The checks of lab 13, tasks 13.1 and 13.2: scatter, gather, and their backward passes.

#include <cstdint>
#include <utility>
#include <vector>

#include "labs/13-data-parallel/test_support.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::lab13;
using parallel::chunk_sizes;
using parallel::gather;
using parallel::scatter;

namespace {

// Returns outputs of 3, 1 and 3 rows of two numbers, on cpu, cpu:1 and cpu:2.
std::vector<Tensor> three_outputs() {
    return {counting({3, 2}, 0), counting({1, 2}, 10, Device::cpu(1)),
            counting({3, 2}, 20, Device::cpu(2))};
}

}  // namespace

// ---- 13.1

TEST_CASE("chunk_sizes cuts as torch.chunk does", "[lab13][lab13.1]") {
    struct Case {
        int64_t size, chunks;
        std::vector<int64_t> sizes;
    };
    const std::vector<Case> cases{
        {12, 4, {3, 3, 3, 3}}, {10, 4, {3, 3, 3, 1}}, {9, 4, {3, 3, 3}},
        {5, 4, {2, 2, 1}},     {3, 7, {1, 1, 1}},     {7, 1, {7}},
        {1, 3, {1}},           {0, 3, {0, 0, 0}},
    };
    for (const Case& each : cases) {
        INFO(each.size << " rows for " << each.chunks << " devices: all chunks but the "
                       << "last have ceil(rows / devices) rows, even if that leaves "
                       << "fewer chunks than devices; hint 1 of 13.1");
        CHECK(chunk_sizes(each.size, each.chunks) == each.sizes);
    }
    CHECK_THROWS_AS(chunk_sizes(3, 0), UsageError);
}

TEST_CASE("scatter sends consecutive rows to one device after the other",
          "[lab13][lab13.1]") {
    const int count = GENERATE(1, 2, 3, 4, 7);
    const int64_t rows = GENERATE(1, 2, 5, 8, 13);
    const auto devices = devices_of(count);
    const auto chunks = scatter(counting({rows, 2, 3}), devices, new_stats());
    const auto sizes = chunk_sizes(rows, count);
    INFO(rows << " rows of 6 numbers 0, 1, 2, ... on " << count << " devices give "
              << sizes.size() << " chunks");
    REQUIRE(chunks.size() == sizes.size());
    float next = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
        INFO("chunk " << i << " begins where chunk " << i - 1 << " ends, and is on "
                      << devices[i]);
        CHECK(chunks[i].shape() == Shape{sizes[i], 2, 3});
        CHECK(chunks[i].device() == devices[i]);
        CHECK(values_of(chunks[i]) == values_of(counting({sizes[i], 2, 3}, next)));
        next += static_cast<float>(chunks[i].numel());
    }
}

TEST_CASE("scatter takes a batch without rows, and integers, but no scalar",
          "[lab13][lab13.1]") {
    INFO("0 rows on 3 devices are 3 chunks of 0 rows, so that each module still runs");
    const auto empty = scatter(Tensor::zeros({0, 2}), devices_of(3), new_stats());
    REQUIRE(empty.size() == 3);
    CHECK(empty[2].shape() == Shape{0, 2});

    const auto labels =
        scatter(Tensor::from<int64_t>({4, 5, 6}), devices_of(2), new_stats());
    REQUIRE(labels.size() == 2);
    CHECK(labels[0].to_vector<int64_t>() == std::vector<int64_t>{4, 5});
    CHECK(labels[1].to_vector<int64_t>() == std::vector<int64_t>{6});

    INFO("a scalar has no rows");
    CHECK_THROWS_AS(scatter(Tensor::scalar(1), devices_of(2), new_stats()), ShapeError);
}

TEST_CASE("the backward of scatter brings each gradient to its own rows",
          "[lab13][lab13.1]") {
    const int count = GENERATE(1, 2, 3, 4, 7);
    Tensor x = counting({5, 2});
    x.set_requires_grad();
    const auto devices = devices_of(count);
    const auto chunks = scatter(x, devices, new_stats());
    Values expected;
    for (size_t i = 0; i < chunks.size(); ++i) {
        INFO("chunk " << i << " of " << chunks.size() << " on " << devices[i]
                      << " must be recorded as computed from x; hint 2 of 13.1");
        REQUIRE(chunks[i].requires_grad());
        chunks[i].backward({.gradient = counting(chunks[i].shape(), 10, devices[i])});
        for (float value = 10; value < 10 + static_cast<float>(chunks[i].numel());
             ++value)
            expected.push_back(value);
    }
    INFO("the gradients of each chunk were 10, 11, 12, ...");
    CHECK(values_of(x.grad()) == expected);
    CHECK(x.grad().device() == x.device());
}

TEST_CASE("scatter counts what changes its device and nothing else", "[lab13][lab13.1]") {
    const int home = GENERATE(0, 2);
    Tensor x = counting({5, 2}, 0, Device::cpu(home));
    x.set_requires_grad();
    const auto stats = new_stats();
    const auto chunks = scatter(x, devices_of(3), stats);
    const int64_t moved = home == 0 ? 40 - 16 : 40 - 8;  // the chunk on `home` stays
    INFO("x is on " << Device::cpu(home) << "; chunks of 2, 2 and 1 rows of 8 bytes go "
                    << "to cpu, cpu:1, cpu:2; one of them is there already");
    CHECK(stats->bytes_scattered == moved);
    CHECK(stats->bytes_gathered == 0);
    for (const Tensor& chunk : chunks) {
        INFO("each chunk must be recorded as computed from x; hint 2 of 13.1");
        REQUIRE(chunk.requires_grad());
        chunk.backward({.gradient = Tensor::ones(chunk.shape())});
    }
    INFO("backward gathers the gradients, and scatters nothing");
    CHECK(stats->bytes_scattered == moved);
    CHECK(stats->bytes_gathered == moved);
    CHECK(stats->total() == 2 * moved);
}

TEST_CASE("a chunk that changes its device is a copy", "[lab13][lab13.1]") {
    Tensor x = counting({4, 1});
    const auto chunks = scatter(x, devices_of(2), new_stats());
    ops::fill_(x, 9);
    INFO("x was changed after scatter: chunk 0 is a view of x, chunk 1 a copy");
    CHECK(values_of(chunks[0]) == Values{9, 9});
    CHECK(values_of(chunks[1]) == Values{2, 3});
}

// ---- 13.2

TEST_CASE("gather puts the outputs one below the other", "[lab13][lab13.2]") {
    const int to = GENERATE(0, 1);
    const Tensor y = gather(three_outputs(), devices_of(3), Device::cpu(to), new_stats());
    INFO("outputs of 3, 1 and 3 rows begin at rows 0, 3 and 4; hint 1 of 13.2");
    CHECK(y.shape() == Shape{7, 2});
    CHECK(y.device() == Device::cpu(to));
    CHECK(values_of(y) == Values{0, 1, 2, 3, 4, 5, 10, 11, 20, 21, 22, 23, 24, 25});
}

TEST_CASE("gather makes a vector of scalars, and its backward makes scalars again",
          "[lab13][lab13.2]") {
    std::vector<Tensor> outputs{Tensor::scalar(4), Tensor::scalar(5), Tensor::scalar(6)};
    for (Tensor& output : outputs) output.set_requires_grad();
    const Tensor y = gather(outputs, devices_of(3), Device::cpu(), new_stats());
    CHECK(y.shape() == Shape{3});
    CHECK(values_of(y) == Values{4, 5, 6});
    y.backward({.gradient = Tensor::from<float>({1, 2, 3})});
    for (size_t i = 0; i < outputs.size(); ++i) {
        INFO("the gradient of a scalar is a scalar, not a vector of one number");
        CHECK(outputs[i].grad().shape() == Shape{});
        CHECK(values_of(outputs[i].grad()) == Values{static_cast<float>(i + 1)});
    }
}

TEST_CASE("the backward of gather gives each output the gradient of its rows",
          "[lab13][lab13.2]") {
    auto outputs = three_outputs();
    for (Tensor& output : outputs) output.set_requires_grad();
    const Tensor y = gather(outputs, devices_of(3), Device::cpu(), new_stats());
    y.backward({.gradient = counting({7, 2}, 100)});
    float next = 100;
    for (const Tensor& output : outputs) {
        INFO("an output of " << output.size(0) << " rows on " << output.device()
                             << "; its rows of the gradient begin with " << next);
        REQUIRE(output.grad().defined());
        CHECK(output.grad().device() == output.device());
        CHECK(values_of(output.grad()) == values_of(counting(output.shape(), next)));
        next += static_cast<float>(output.numel());
    }
}

TEST_CASE("gather counts outputs as gathered and their gradients as scattered",
          "[lab13][lab13.2]") {
    const int to = GENERATE(0, 1, 2);
    auto outputs = three_outputs();
    for (Tensor& output : outputs) output.set_requires_grad();
    const auto stats = new_stats();
    const Tensor y = gather(outputs, devices_of(3), Device::cpu(to), stats);
    const int64_t moved = 56 - static_cast<int64_t>(outputs[size_t(to)].bytes());
    INFO("outputs of 24, 8 and 24 bytes go to " << Device::cpu(to)
                                                << ", and that one stays");
    CHECK(stats->bytes_gathered == moved);
    CHECK(stats->bytes_scattered == 0);
    y.backward({.gradient = counting({7, 2}, 0, Device::cpu(to))});
    CHECK(stats->bytes_gathered == moved);
    CHECK(stats->bytes_scattered == moved);
}

TEST_CASE("the device of an output is its entry in devices", "[lab13][lab13.2]") {
    Tensor x = counting({2, 1});
    x.set_requires_grad();
    const Tensor output = mul(x, x);  // as cpu:1 returns it: a result on the CPU
    const auto stats = new_stats();
    const Tensor y = gather({output}, {Device::cpu(1)}, Device::cpu(), stats);
    INFO("devices[0] is cpu:1, output.device() is " << output.device()
                                                    << ": 8 bytes move");
    CHECK(stats->bytes_gathered == 8);
    sum(y).backward();
    CHECK(stats->bytes_scattered == 8);
    CHECK(values_of(x.grad()) == Values{0, 2});

    INFO("on cpu:1 a result is gathered, whose gradient says that it is on cpu: 0 bytes");
    const Tensor there = gather({mul(x, x)}, {Device::cpu(1)}, Device::cpu(1), stats);
    there.backward({.gradient = counting({2, 1})});
    CHECK(stats->total() == 16);
}

TEST_CASE("gather keeps the dtype, and rejects outputs that do not fit",
          "[lab13][lab13.2]") {
    const auto joined = [](const Tensor& a, const Tensor& b) {
        return gather({a, b, a}, devices_of(3), Device::cpu(1), new_stats());
    };
    const Tensor labels = Tensor::from<int64_t>({4, 5});
    CHECK(joined(labels, labels).to_vector<int64_t>() ==
          std::vector<int64_t>{4, 5, 4, 5, 4, 5});
    INFO("the second output has 5 columns, no columns, another dtype, or no rows");
    const std::vector<std::pair<Tensor, Tensor>> pairs{
        {counting({1, 2}), counting({1, 5})},
        {counting({1, 2}), counting({2})},
        {counting({1, 2}), Tensor::from<int64_t>({4, 5}, {1, 2})},
        {counting({2}), Tensor::scalar(4)}};
    for (const auto& [good, bad] : pairs) {
        const auto told = test::message_of<ShapeError>(
            [&, &first = good, &other = bad] { joined(first, other); });
        INFO("the error is: " << told);
        CHECK(test::contains(told, "cpu:1"));
        CHECK(test::contains(told, "cpu "));
    }
}

TEST_CASE("an output that needs no gradient receives none", "[lab13][lab13.2]") {
    auto outputs = three_outputs();
    outputs[0].set_requires_grad();
    outputs[2].set_requires_grad();
    const auto stats = new_stats();
    const Tensor y = gather(outputs, devices_of(3), Device::cpu(), stats);
    y.backward({.gradient = counting({7, 2}, 0)});
    INFO(
        "output 1 needs no gradient: nothing is copied for it, but its rows are "
        "passed over, and output 2 begins at row 4; hint 2 of 13.2");
    CHECK(stats->bytes_scattered == 24);
    CHECK(values_of(outputs[0].grad()) == Values{0, 1, 2, 3, 4, 5});
    CHECK(values_of(outputs[2].grad()) == Values{8, 9, 10, 11, 12, 13});
}

TEST_CASE("gather undoes scatter, forward and backward", "[lab13][lab13.2]") {
    const int count = GENERATE(1, 2, 3, 4, 7);
    const int64_t rows = GENERATE(0, 1, 5, 8);
    INFO(rows << " rows through " << count << " devices");
    Tensor x = counting({rows, 3});
    x.set_requires_grad();
    const auto chunks = scatter(x, devices_of(count), new_stats());
    const Tensor y = gather(chunks, devices_of(count), Device::cpu(), new_stats());
    CHECK(y.shape() == x.shape());
    CHECK(values_of(y) == values_of(x));
    y.backward({.gradient = counting({rows, 3}, 50)});
    CHECK(values_of(x.grad()) == values_of(counting({rows, 3}, 50)));
}
