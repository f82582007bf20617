#include "libmini/data/tensor_dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::DType;
using mini::Shape;
using mini::Tensor;
using mini::data::Batch;
using mini::data::Example;
using mini::data::TensorDataset;
using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

namespace {

Tensor floats(Shape shape) {
    Floats values(static_cast<size_t>(mini::element_count(shape)));
    std::iota(values.begin(), values.end(), 0.0f);
    return Tensor::from(values, std::move(shape));
}

}  // namespace

TEST_CASE("TensorDataset returns the rows of both tensors") {
    const TensorDataset dataset(floats({4, 2, 3}), Tensor::from(Integers{5, 6, 7, 8}));
    CHECK(dataset.size() == 4);
    const Example example = dataset.get(2);
    CHECK(example.data.shape() == Shape{2, 3});
    CHECK(example.data.to_vector<float>() == Floats{12, 13, 14, 15, 16, 17});
    CHECK(example.target.shape() == Shape{});
    CHECK(example.label() == 7);
}

TEST_CASE("a batch of a TensorDataset is bitwise identical to its collated samples") {
    const Integers indices = {3, 0, 3, 1};
    const auto same = [&](const Tensor& data, const Tensor& target) {
        const TensorDataset dataset(data, target);
        const Batch fast = dataset.get_batch(indices);
        const Batch slow = dataset.Dataset::get_batch(indices);
        return fast.data.shape() == slow.data.shape() &&
               fast.target.shape() == slow.target.shape() &&
               fast.data.to_vector<float>() == slow.data.to_vector<float>() &&
               fast.target.dtype() == slow.target.dtype();
    };
    CHECK(same(floats({4, 2, 3}), Tensor::from(Integers{5, 6, 7, 8})));
    CHECK(same(floats({4}), floats({4, 1})));
    CHECK(same(floats({4, 0}), floats({4})));

    const Tensor columns = mini::ops::transpose(floats({3, 4}), 0, 1);  // a strided view
    CHECK(same(columns, floats({4})));
    CHECK(
        TensorDataset(columns, floats({4})).get_batch(indices).data.to_vector<float>() ==
        Floats{3, 7, 11, 0, 4, 8, 3, 7, 11, 1, 5, 9});
}

TEST_CASE("targets may be floats as BCELoss needs them") {
    const auto dataset =
        std::make_shared<TensorDataset>(floats({3, 10}), Tensor::from(Floats{0, 1, 1}));
    mini::data::DataLoader loader(dataset, {.batch_size = 2});
    std::vector<Floats> targets;
    for (const Batch& batch : loader) targets.push_back(batch.target.to_vector<float>());
    CHECK(targets == std::vector<Floats>{{0, 1}, {1}});
}

TEST_CASE("TensorDataset does not copy its tensors") {
    const Tensor data = floats({3, 2}), target = floats({3});
    const TensorDataset dataset(data, target);
    CHECK(dataset.get(1).data.raw_data() == data.raw_data() + 2 * sizeof(float));
    CHECK(dataset.get(1).target.raw_data() == target.raw_data() + sizeof(float));
}

TEST_CASE("a TensorDataset may be empty") {
    const TensorDataset dataset(floats({0, 2}), floats({0}));
    CHECK(dataset.size() == 0);
    CHECK(dataset.get_batch({}).data.shape() == Shape{0, 2});
}

TEST_CASE("TensorDataset rejects tensors that do not fit and names both shapes") {
    const auto error_of = [](const Tensor& data, const Tensor& target) {
        return message_of<mini::Error>([&] { TensorDataset(data, target); });
    };
    const std::string rows = error_of(floats({4, 2}), floats({3}));
    CHECK(contains(rows, "data is (4, 2) but target is (3,)"));
    CHECK(contains(error_of(Tensor::scalar(1), floats({1})), "one row per sample"));
    CHECK(contains(error_of(floats({1}), Tensor::scalar(1)), "one row per sample"));
    CHECK(contains(error_of(Tensor(), floats({1})), "no data was given"));
    CHECK(contains(error_of(floats({1}), Tensor()), "no target was given"));
}

TEST_CASE("the error of an index out of range names the index and the size") {
    const TensorDataset dataset(floats({4, 2}), floats({4}));
    for (const int64_t index : Integers{-1, 4, INT64_MAX, INT64_MIN}) {
        const std::string expected =
            "sample " + std::to_string(index) + ": index out of range; the dataset has 4";
        CHECK(message_of([&] { dataset.get(index); }) == expected);
        CHECK(message_of([&] { dataset.get_batch(Integers{0, index}); }) == expected);
    }
}
