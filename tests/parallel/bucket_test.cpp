#include "libmini/parallel/bucket.hpp"

#include "tests/support/catch.hpp"

using namespace mini;
using parallel::Bucket;
using parallel::compute_bucket_assignment;

namespace {

using Assignment = std::vector<std::vector<size_t>>;
constexpr int64_t kMiB = int64_t{1} << 20;

std::vector<Tensor> floats(const std::vector<int64_t>& sizes) {
    std::vector<Tensor> tensors;
    for (const int64_t size : sizes) tensors.push_back(Tensor::zeros({size}));
    return tensors;
}

}  // namespace

TEST_CASE("the parameters of three Linear layers get PyTorch's buckets") {
    // Weights of 1 MiB and biases of 2 KiB, limits of 1 MiB (torch 2.2.2).
    const auto tensors = floats({262144, 512, 262144, 512, 262144, 512});
    CHECK(compute_bucket_assignment(tensors, {kMiB, kMiB}) ==
          Assignment{{0}, {1, 2}, {3, 4}, {5}});
}

TEST_CASE("a bucket is closed when it reaches its limit and not before") {
    CHECK(compute_bucket_assignment(floats({1, 1, 1, 1}), {8}) ==
          Assignment{{0, 1}, {2, 3}});
    CHECK(compute_bucket_assignment(floats({1, 100, 1}), {8}) == Assignment{{0, 1}, {2}});
}

TEST_CASE(
    "the first limit applies to the first bucket and the last limit to all others") {
    CHECK(compute_bucket_assignment(floats({1, 1, 1, 1, 1}), {4, 8}) ==
          Assignment{{0}, {1, 2}, {3, 4}});
}

TEST_CASE("each bucket has one dtype and the limits apply to each dtype separately") {
    std::vector<Tensor> tensors = floats({1, 1, 1});
    tensors.insert(tensors.begin() + 1, Tensor::zeros({1}, DType::kInt64));
    CHECK(compute_bucket_assignment(tensors, {4, 100}) == Assignment{{0}, {1}, {2, 3}});
}

TEST_CASE("an empty list gives no buckets and tensors without elements join a bucket") {
    CHECK(compute_bucket_assignment({}, {8}).empty());
    CHECK(compute_bucket_assignment(floats({0, 0}), {8}) == Assignment{{0, 1}});
}

TEST_CASE("invalid limits are rejected") {
    CHECK_THROWS_AS(compute_bucket_assignment(floats({1}), {}), UsageError);
    CHECK_THROWS_AS(compute_bucket_assignment(floats({1}), {0}), UsageError);
}

TEST_CASE("a bucket's gradients are consecutive views of its buffer") {
    const std::vector<Tensor> parameters{Tensor::zeros({2, 2}), Tensor::zeros({9}),
                                         Tensor::zeros({3})};
    Bucket bucket({2, 0}, parameters);
    CHECK(bucket.bytes() == 28);
    CHECK(bucket.gradient(0).shape() == Shape{3});
    CHECK(bucket.gradient(1).shape() == Shape{2, 2});
    CHECK(bucket.gradient(1).shares_storage(bucket.buffer()));
    CHECK(bucket.gradient(1).offset() == 3);
}

TEST_CASE(
    "a bucket is full when all gradients are ready and counts a repeated gradient "
    "once") {
    Bucket bucket({0, 1}, floats({1, 1}));
    bucket.copy_gradient(1, Tensor::full({1}, 8), 0.25f);
    CHECK_FALSE(bucket.is_full());
    bucket.copy_gradient(1, Tensor::full({1}, 8), 0.25f);
    CHECK_FALSE(bucket.is_full());
    bucket.copy_gradient(0, Tensor(), 0.25f);
    CHECK(bucket.is_full());
    CHECK(bucket.buffer().to_vector<float>() == std::vector<float>{0, 2});
    bucket.reset();
    CHECK_FALSE(bucket.is_full());
    CHECK_FALSE(bucket.is_ready(0));
}
