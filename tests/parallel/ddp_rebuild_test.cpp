// Rebuilt buckets in the second iteration, and broadcast buffers. The checks of lab 16 show
// the order of rebuilt buckets.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DistributedDataParallel;

namespace {

using Assignment = std::vector<std::vector<size_t>>;

// Three layers of equal size.
class Layers : public nn::Module {
  public:
    Layers() {
        register_module("0", first);
        register_module("1", second);
        register_module("2", third);
    }
    Tensor forward(const Tensor& x) override { return third(second(first(x))); }

    nn::Linear first{4, 4}, second{4, 4}, third{4, 4};  // weights 64, biases 16 bytes
};

}  // namespace

TEST_CASE("the rebuilt buckets are those of PyTorch") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup&) {
        Layers module;
        DistributedDataParallel ddp(
            module, {.first_bucket_bytes = 64, .bucket_cap_mb = parallel::mib(64)});
        train_once(ddp, 4);
        train_once(ddp, 4);
        return std::pair(assignment(ddp), ddp.has_rebuilt_buckets());
    });
    for (const auto& [buckets, rebuilt] : seen) {
        CHECK(buckets == Assignment{{5, 4}, {3, 2}, {1, 0}});  // as in PyTorch 2.2.2
        CHECK(rebuilt);
    }
}

namespace {

// Adds 1 + rank to the buffer `count` in each forward pass; `seen` holds the counts at
// the start of the passes.
class Counting : public nn::Module {
  public:
    explicit Counting(int rank) : rank_(rank) {
        register_parameter("weight", weight);
        count = register_buffer("count", Tensor::zeros({1}, DType::kInt64));
        mean = register_buffer("mean", Tensor::zeros({1}));
    }
    Tensor forward(const Tensor& x) override {
        seen.push_back(static_cast<int64_t>(count.item()));
        for (int i = 0; i < 1 + rank_; ++i) ops::increment_(count);
        ops::add_(mean, Tensor::full({1}, 0.5));
        return sum(x * weight);
    }

    Tensor weight = Tensor::ones({1}), count, mean;
    std::vector<int64_t> seen;

  private:
    int rank_;
};

}  // namespace

TEST_CASE(
    "rank 0's buffers are broadcast before each forward pass that records gradients") {
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        Counting module(group.rank());
        DistributedDataParallel ddp(module);
        const Tensor x = Tensor::ones({1});
        for (int pass = 0; pass < 3; ++pass) ddp(x).backward();
        {
            const auto no_sync =
                ddp.no_sync();  // buffers are still broadcast before this forward
            ddp(x).backward();
            ddp(x).backward();
        }
        ddp(x).backward();  // no broadcast after a forward within no_sync
        ddp(x).backward();
        return module.seen;
    });
    for (int64_t rank = 0; rank < 3; ++rank) {
        const int64_t step = 1 + rank;
        CHECK(seen[static_cast<size_t>(rank)] ==
              std::vector<int64_t>{0, 1, 2, 3, 3 + step, 3 + 2 * step, 6});
    }
}

TEST_CASE("without broadcast_buffers each rank keeps its own buffers") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Counting module(group.rank());
        DistributedDataParallel ddp(module, {.broadcast_buffers = false});
        for (int pass = 0; pass < 3; ++pass) ddp(Tensor::ones({1})).backward();
        return module.seen;
    });
    CHECK(seen[1] == std::vector<int64_t>{0, 2, 4});
}
