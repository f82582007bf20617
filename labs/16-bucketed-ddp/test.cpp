// The checks of lab 16, tasks 16.1 to 16.3: buckets. Each task's cases need that task and
// the tasks before it.

#include "labs/16-bucketed-ddp/test_support.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace mini;
using namespace mini::lab16;

// ---- 16.1

TEST_CASE("a tensor joins its bucket before the bucket is closed", "[lab16][lab16.1]") {
    {
        const auto assigned = compute_bucket_assignment(floats({4, 4, 40, 4, 4}), {8});
        INFO(
            "tensors of 4 4 40 4 4 bytes with a limit of 8: the third finds an empty "
            "bucket and closes it alone; got "
            << in_words(assigned));
        CHECK(assigned == Assignment{{0, 1}, {2}, {3, 4}});
    }
    const auto joined = compute_bucket_assignment(floats({4, 40, 4}), {8});
    INFO(
        "tensors of 4 40 4 bytes: the second joins the first and only then is the "
        "limit of 8 reached; got "
        << in_words(joined));
    CHECK(joined == Assignment{{0, 1}, {2}});
}

TEST_CASE("the first limit holds for the first bucket and the last for all others",
          "[lab16][lab16.1]") {
    const auto assigned = compute_bucket_assignment(floats({4, 4, 4, 4, 4, 4}), {4, 8});
    INFO("six tensors of 4 bytes with limits 4 and 8; got " << in_words(assigned));
    CHECK(assigned == Assignment{{0}, {1, 2}, {3, 4}, {5}});
}

TEST_CASE("three layers of 512 units are assigned to the same buckets as in PyTorch",
          "[lab16][lab16.1]") {
    constexpr int64_t kMiB = 1 << 20;
    const auto assigned = compute_bucket_assignment(
        floats({kMiB, 2048, kMiB, 2048, kMiB, 2048}), {kMiB, kMiB});
    INFO("weights of 1 MiB and biases of 2 KiB with limits of 1 MiB; got "
         << in_words(assigned));
    CHECK(assigned == Assignment{{0}, {1, 2}, {3, 4}, {5}});
}

TEST_CASE("buckets never mix dtypes and each dtype starts with the first limit",
          "[lab16][lab16.1]") {
    auto tensors = floats({4, 4, 4});
    tensors.insert(tensors.begin() + 1, Tensor::zeros({1}, DType::kInt64));
    const auto assigned = compute_bucket_assignment(tensors, {4, 100});
    INFO("float int64 float float with limits 4 and 100; got " << in_words(assigned));
    CHECK(assigned == Assignment{{0}, {1}, {2, 3}});

    tensors.resize(2);
    tensors.push_back(Tensor::zeros({1}, DType::kInt64));
    const auto closed = compute_bucket_assignment(tensors, {4, 100});
    INFO(
        "float int64 int64: the limit of 4 is also that of the first bucket of int64, "
        "so it closes at 8 bytes; got "
        << in_words(closed));
    CHECK(closed == Assignment{{0}, {1}, {2}});
}

TEST_CASE("no tensors give no bucket and empty tensors still get a bucket",
          "[lab16][lab16.1]") {
    CHECK(compute_bucket_assignment({}, {8}).empty());
    CHECK(compute_bucket_assignment(floats({0, 0}), {8}) == Assignment{{0, 1}});
}

TEST_CASE("each dtype has its own count of closed buckets", "[lab16][lab16.1]") {
    auto tensors = floats({4});
    for (int i = 0; i < 3; ++i) tensors.push_back(Tensor::zeros({1}, DType::kInt64));
    const auto assigned = compute_bucket_assignment(tensors, {4, 8, 100});
    INFO("float int64 int64 int64 with limits 4, 8 and 100: the second bucket of int64");
    INFO("has the limit 8, whatever float has closed; got " << in_words(assigned));
    CHECK(assigned == Assignment{{0}, {1}, {2}, {3}});
}

TEST_CASE("buckets are sorted by their first tensor, whichever was closed first",
          "[lab16][lab16.1]") {
    auto tensors = floats({4, 4});
    tensors.insert(tensors.begin() + 1, Tensor::zeros({1}, DType::kInt64));
    const auto assigned = compute_bucket_assignment(tensors, {8});
    INFO("float int64 float of 4 8 4 bytes with a limit of 8: the bucket of int64 is");
    INFO("closed first, but begins later; got " << in_words(assigned));
    CHECK(assigned == Assignment{{0, 2}, {1}});
}

TEST_CASE("buckets need at least one limit, and limits of at least one byte",
          "[lab16][lab16.1]") {
    const auto tensors = floats({4});
    CHECK(compute_bucket_assignment(tensors, {1}) == Assignment{{0}});
    CHECK_THROWS_AS(compute_bucket_assignment(tensors, {}), UsageError);
    CHECK_THROWS_AS(compute_bucket_assignment(tensors, {4, 0}), UsageError);
    CHECK_THROWS_AS(compute_bucket_assignment({}, {-1}), UsageError);
}

TEST_CASE("the first buckets are filled from the last parameter to the first",
          "[lab16][lab16.1]") {
    using parallel::compute_bucket_assignment_from_last;
    const auto assigned =
        compute_bucket_assignment_from_last(floats({60, 20, 40, 8}), {8, 40});
    INFO("tensors 0 1 2 3 of 60 20 40 and 8 bytes with limits 8 and 40");
    INFO("the buckets should be (3,)(2,)(1, 0), and are " << in_words(assigned));
    CHECK(assigned == Assignment{{3}, {2}, {1, 0}});

    const auto joined = compute_bucket_assignment_from_last(floats({4, 4, 4, 4, 4}), {8});
    INFO("five tensors of 4 bytes with a limit of 8: two in a bucket, from the last on");
    INFO("(to reverse the buckets of 0 to 4 is not the same); got " << in_words(joined));
    CHECK(joined == Assignment{{4, 3}, {2, 1}, {0}});
    CHECK(compute_bucket_assignment_from_last({}, {8}).empty());
}

TEST_CASE("from the last to the first each dtype still has buckets of its own",
          "[lab16][lab16.1]") {
    auto tensors = floats({4, 4, 4});
    tensors.insert(tensors.begin() + 1, Tensor::zeros({1}, DType::kInt64));
    const auto assigned = parallel::compute_bucket_assignment_from_last(tensors, {100});
    INFO("tensors 0 to 3 are float int64 float float, and no limit is reached");
    INFO("the bucket that was begun first comes first; got " << in_words(assigned));
    CHECK(assigned == Assignment{{3, 2, 0}, {1}});

    tensors = floats({8, 8});
    tensors.push_back(Tensor::zeros({1}, DType::kInt64));
    const auto closed = parallel::compute_bucket_assignment_from_last(tensors, {9});
    INFO("float float int64, each of 8 bytes, with a limit of 9: the bucket of int64 is");
    INFO("closed last, but begins first; got " << in_words(closed));
    CHECK(closed == Assignment{{2}, {1, 0}});
}

// ---- 16.2

TEST_CASE("the gradients of a bucket are views of one flat buffer", "[lab16][lab16.2]") {
    const std::vector<Tensor> parameters{Tensor::zeros({2, 2}), Tensor::zeros({9}),
                                         Tensor::zeros({3}), Tensor::zeros({0})};
    Bucket bucket({2, 3, 0}, parameters);
    INFO("parameters of shapes (3,) (0,) and (2, 2) are 7 floats");
    REQUIRE(bucket.buffer().shape() == Shape{7});
    REQUIRE(bucket.gradients().size() == 3);
    CHECK(bucket.gradient(0).shape() == Shape{3});
    CHECK(bucket.gradient(1).shape() == Shape{0});
    CHECK(bucket.gradient(2).shape() == Shape{2, 2});
    CHECK(bucket.buffer().to_vector<float>() == Values(7, 0));

    for (const size_t slot : {size_t{0}, size_t{2}}) {
        Tensor gradient = bucket.gradient(slot);
        ops::fill_(gradient, static_cast<float>(slot + 1));
    }
    INFO(
        "1 in the first gradient and 3 in the last must be in the buffer, one after "
        "the other, because the gradients are views of it and not copies");
    CHECK(bucket.buffer().to_vector<float>() == Values{1, 1, 1, 3, 3, 3, 3});
}

TEST_CASE("a bucket has the dtype of its parameters", "[lab16][lab16.2]") {
    const std::vector<Tensor> parameters{Tensor::zeros({2}, DType::kBFloat16)};
    const Bucket bucket({0}, parameters);
    CHECK(bucket.buffer().dtype() == DType::kBFloat16);
    CHECK(bucket.bytes() == 4);
}

// ---- 16.3

TEST_CASE("a gradient is copied to its slot and multiplied by its share",
          "[lab16][lab16.2]") {
    Bucket bucket({0, 1}, floats({8, 4}));
    const Tensor gradient = Tensor::from(Values{6, 9});
    bucket.copy_gradient(0, gradient, 1.0f / 3);
    INFO("6 and 9 with a share of one third are 2 and 3");
    const auto values = bucket.buffer().to_vector<float>();
    CHECK(values[0] == about(2, 1e-6));
    CHECK(values[1] == about(3, 1e-6));
    INFO("the gradient that was passed must not change");
    CHECK(gradient.to_vector<float>() == Values{6, 9});

    bucket.reset();
    bucket.copy_gradient(0, Tensor::from(Values{1, 1}), 1.0f);
    INFO("in the next pass 1 and 1 replace the values of the buffer, without adding");
    CHECK(bucket.gradient(0).to_vector<float>() == Values{1, 1});
}

TEST_CASE("a gradient that is already in its slot is still multiplied by its share",
          "[lab16][lab16.2]") {
    Bucket bucket({0}, floats({8}));
    Tensor view = bucket.gradient(0);
    ops::fill_(view, 8.0f);
    bucket.copy_gradient(0, view, 0.25f);
    INFO(
        "from the second step on the gradient is the view of the bucket: 8 times 0.25 "
        "is 2 there too");
    CHECK(view.to_vector<float>() == Values{2, 2});
}

TEST_CASE("an undefined gradient counts as zero", "[lab16][lab16.2]") {
    Bucket bucket({0}, floats({8}));
    Tensor view = bucket.gradient(0);
    ops::fill_(view, 8.0f);
    bucket.copy_gradient(0, Tensor(), 0.5f);
    INFO("the values of the last pass in the buffer must not be averaged again");
    CHECK(view.to_vector<float>() == Values{0, 0});
    CHECK(bucket.is_full());
}

TEST_CASE("a bucket is full when all of its gradients are ready", "[lab16][lab16.2]") {
    Bucket bucket({0, 1, 2}, floats({4, 4, 4}));
    for (const auto& [slot, full] : std::vector<std::pair<size_t, bool>>{
             {2, false}, {2, false}, {0, false}, {2, false}, {1, true}}) {
        bucket.copy_gradient(slot, Tensor::ones({1}), 1.0f);
        INFO("gradients 2 2 0 2 1 of three in this order; this one is "
             << slot << "; a repeated gradient is not counted again");
        CHECK(bucket.is_ready(slot));
        REQUIRE(bucket.is_full() == full);
    }
    bucket.finish = [] {};
    bucket.reset();
    INFO(
        "reset() begins a new pass: nothing is ready, `finish` is empty, and the "
        "numbers");
    INFO("stay, because the gradients that they are may not have been set to zero");
    CHECK_FALSE(bucket.is_full());
    CHECK_FALSE(bucket.is_ready(1));
    CHECK_FALSE(bucket.finish);
    CHECK(bucket.buffer().to_vector<float>() == Values{1, 1, 1});
}

TEST_CASE("a gradient that is copied again replaces the first", "[lab16][lab16.2]") {
    Bucket bucket({0, 1}, floats({4, 4}));
    bucket.copy_gradient(0, Tensor::from(Values{6}), 0.5f);
    bucket.copy_gradient(1, Tensor::from(Values{8}), 0.5f);
    bucket.copy_gradient(0, Tensor::from(Values{10}), 0.5f);
    INFO("6 and 8 with a share of a half are 3 and 4; then 10 replaces the first, with");
    INFO("the result 5; the second does not change");
    CHECK(bucket.buffer().to_vector<float>() == Values{5, 4});
}
