#include "libmini/data/dataset.hpp"

#include <exception>
#include <string>

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::Shape;
using mini::Tensor;
using mini::data::Batch;
using mini::data::collate;
using mini::data::Example;

TEST_CASE("collate stacks samples in order along a new first dimension") {
    const Numbers numbers(10);
    const Batch batch = collate({numbers.get(4), numbers.get(0), numbers.get(9)});
    CHECK(batch.size() == 3);
    CHECK(batch.data.shape() == Shape{3, 2});
    CHECK(batch.data.to_vector<float>() == std::vector<float>{4, 8, 0, 0, 9, 18});
    CHECK(batch.target.shape() == Shape{3});
    CHECK(batch.target.to_vector<int64_t>() == std::vector<int64_t>{12, 0, 27});
}

TEST_CASE("collate stacks scalars and empty samples and views and other dtypes") {
    CHECK(collate({{Tensor::scalar(1), 0}, {Tensor::scalar(2), 0}}).data.shape() ==
          Shape{2});
    CHECK(collate({{Tensor::zeros({0, 3}), 0}}).data.shape() == Shape{1, 0, 3});

    const Tensor bytes = Tensor::from(std::vector<uint8_t>{1, 2, 3});
    CHECK(collate({{bytes, 0}, {bytes, 0}}).data.to_vector<uint8_t>() ==
          std::vector<uint8_t>{1, 2, 3, 1, 2, 3});

    const Tensor rows = Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2});
    const Tensor columns = rows.as_strided({2, 2}, {1, 2}, 0);
    CHECK(collate({{columns, 0}, {rows, 0}}).data.to_vector<float>() ==
          std::vector<float>{1, 3, 2, 4, 1, 2, 3, 4});
}

TEST_CASE("collate rejects an empty list and samples of different shapes or dtypes") {
    const std::string shapes = message_of<mini::ShapeError>([] {
        collate({{Tensor::zeros({2}), 0}, {Tensor::zeros({3}), 0}});
    });
    CHECK(contains(shapes, "sample 1"));
    CHECK(contains(shapes, "(3,)"));
    CHECK(contains(shapes, "(2,)"));
    CHECK_THROWS_AS(
        collate({{Tensor::zeros({2}), 0}, {Tensor::zeros({2}, mini::DType::kInt64), 0}}),
        mini::ShapeError);
    CHECK_THROWS_AS(collate({}), mini::UsageError);
}

TEST_CASE("get_each returns samples one by one in order and repeats repeated indices") {
    const std::vector<int64_t> indices = {8, 2, 8};
    std::vector<int64_t> labels;
    for (const Example& example : mini::data::get_each(Numbers(10), indices))
        labels.push_back(example.label());
    CHECK(labels == std::vector<int64_t>{24, 6, 24});
    CHECK(mini::data::get_each(Numbers(10), {}).empty());
}

TEST_CASE("collate stacks targets of any shape and dtype") {
    const auto target = [](float a, float b) {
        return Tensor::from(std::vector<float>{a, b});
    };
    const Batch batch = collate(
        {{Tensor::scalar(1), target(0, 1)}, {Tensor::scalar(2), target(0.5f, 0.25f)}});
    CHECK(batch.target.shape() == Shape{2, 2});
    CHECK(batch.target.to_vector<float>() == std::vector<float>{0, 1, 0.5f, 0.25f});
    CHECK_THROWS_AS(collate({{Tensor::scalar(1), target(0, 1)}, {Tensor::scalar(2), 3}}),
                    mini::ShapeError);
}

TEST_CASE("an error of get_batch names the sample and nests the original exception") {
    struct Broken : Numbers {
        Broken() : Numbers(10) {}
        Example get(int64_t i) const override {
            if (i == 7) throw mini::BadFile("seven.png: no such file");
            return Numbers::get(i);
        }
    };
    const std::vector<int64_t> indices = {1, 7, 2};
    std::string outer, inner;
    try {
        Broken().get_batch(indices);
    } catch (const mini::Error& e) {
        outer = e.what();
        inner = message_of<mini::BadFile>([&] { std::rethrow_if_nested(e); });
    }
    CHECK(outer == "sample 7: seven.png: no such file");
    CHECK(inner == "seven.png: no such file");
}
