// The guarantee of data-parallel training: any number of ranks trains the same model, also
// in difficult cases: tied weights, frozen parameters, unused branches, accumulated
// gradients. (Uneven inputs: zero_test.cpp.)

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

constexpr int64_t kWidth = 6;
const Shape kRow{kWidth};

// On the simulator's devices, and with sanitizers, a step is slow.
bool is_slow() { return kSanitized || default_device().is_cuda(); }

using Values = std::vector<float>;

// An encoder and a decoder that share one weight.
class TiedLayers : public nn::Module {
  public:
    TiedLayers() {
        register_module("in", in);
        register_parameter("again", in.weight);
    }
    Tensor forward(const Tensor& x) override { return matmul(tanh(in(x)), in.weight); }
    nn::Linear in{kWidth, 5};
};

// The first layer is not trained.
class Frozen : public nn::Module {
  public:
    Frozen() {
        register_module("first", first);
        register_module("second", second);
        for (Tensor parameter : first.parameters()) parameter.set_requires_grad(false);
    }
    Tensor forward(const Tensor& x) override { return second(tanh(first(x))); }
    nn::Linear first{kWidth, 5}, second{5, kWidth};
};

// Alternates between two branches, and never uses the third.
class Branching : public nn::Module {
  public:
    Branching() {
        for (size_t i = 0; i < branches.size(); ++i)
            register_module(std::to_string(i), branches[i]);
    }
    Tensor forward(const Tensor& x) override { return branches[step++ % 2](x); }
    std::array<nn::Linear, 3> branches{nn::Linear(kWidth, kWidth),
                                       nn::Linear(kWidth, kWidth),
                                       nn::Linear(kWidth, kWidth)};
    size_t step = 0;
};

struct Job {
    int64_t batch =
        168;  // samples per step, over all ranks: a multiple of 2, 6, 8 and 14
    Shape sample = kRow;
    DDPOptions options{.first_bucket_bytes = 40, .bucket_cap_mb = parallel::mib(150)};
    int micro_batches = 1;  // number of backward passes that accumulate gradients
    CommHook hook = nullptr;
};

// Returns part number `part` of a batch that is split into `parts` equal parts.
Tensor share_of(const Tensor& batch, int part, int parts) {
    const int64_t size = batch.size(0) / parts;
    return ops::contiguous(ops::narrow(batch, 0, part * size, size));
}

void step(DistributedDataParallel& ddp, const Tensor& mine, const Job& job) {
    const auto backward = [&](int micro) {
        const Tensor x = share_of(mine, micro, job.micro_batches);
        const Tensor y = ddp(x);
        const Tensor loss = mse_loss(y, Tensor::full(y.shape(), 0.25));
        (loss / static_cast<float>(job.micro_batches)).backward();
    };
    {
        const auto no_sync = ddp.no_sync();
        for (int micro = 0; micro + 1 < job.micro_batches; ++micro) backward(micro);
    }
    backward(job.micro_batches - 1);
}

template <typename Model>
Values train(int world_size, const Job& job) {
    // The second step and the third have rebuilt buckets.
    const int count = is_slow() ? 3 : 20;
    const auto parameters = on_ranks(world_size, [&](dist::ProcessGroup& group) {
        manual_seed(1234);
        Model model;
        DistributedDataParallel ddp(model, job.options);
        if (job.hook) ddp.register_comm_hook(job.hook);
        optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
        for (int i = 0; i < count; ++i) {
            Shape shape = job.sample;
            shape.insert(shape.begin(), job.batch);
            const Tensor batch = draw(shape, static_cast<uint64_t>(i));
            optimizer.zero_grad();
            step(ddp, share_of(batch, group.rank(), world_size), job);
            optimizer.step();
        }
        return flat_parameters(model);
    });
    for (const Values& values : parameters) REQUIRE(values == parameters[0]);
    return parameters[0];
}

// Returns the parameters after the training on two ranks.
template <typename Model>
Values check_all_world_sizes(const Job& job) {
    const Values alone = train<Model>(1, job);
    Values parameters;
    // devices_test.cpp has 1, 2, 3 and 4 ranks with a CUDA device each.
    for (const int world_size : kSanitized                   ? std::vector{3, 2}
                                : default_device().is_cuda() ? std::vector{7, 2}
                                                             : std::vector{7, 4, 3, 2}) {
        CAPTURE(world_size);
        parameters = train<Model>(world_size, job);
        CHECK(relative_error(parameters, alone) < 1e-6);
    }
    return parameters;
}

// The tutorial's network without dropout, since dropout masks differ between ranks.
class PlainConvNet : public nn::ConvNet {
  public:
    PlainConvNet() : nn::ConvNet({.dropout = false}) {}
};

Job convnet_job() {
    Job job;
    job.options = {.first_bucket_bytes = 1000, .bucket_cap_mb = parallel::mib(30000)};
    job.batch = 84;
    job.sample = {1, 28, 28};
    return job;
}

}  // namespace

TEST_CASE(
    "a ConvNet trains the same on any number of ranks, and twice to the same bits") {
    const Values on_two = check_all_world_sizes<PlainConvNet>(convnet_job());
    CHECK(train<PlainConvNet>(2, convnet_job()) == on_two);
}

TEST_CASE("a module with tied weights trains the same on any number of ranks") {
    check_all_world_sizes<TiedLayers>({});
}

TEST_CASE("a module with frozen parameters trains the same on any number of ranks") {
    check_all_world_sizes<Frozen>({});
}

TEST_CASE("a module with unused branches trains the same on any number of ranks") {
    Job job;
    job.options.find_unused_parameters = true;
    check_all_world_sizes<Branching>(job);
}

TEST_CASE("a module trains the same with accumulated gradients on any number of ranks") {
    check_all_world_sizes<Frozen>({.micro_batches = 2});
    CHECK(relative_error(train<Frozen>(2, {.micro_batches = 2}),
                         train<Frozen>(2, Job{})) < 1e-6);
}

TEST_CASE("the comparison detects gradients that are summed instead of averaged") {
    Job sums;
    sums.hook = [](const GradBucket& bucket, dist::ProcessGroup& group) -> FinishHook {
        return [work = group.all_reduce_async(bucket.buffer)] { work->wait(); };
    };
    CHECK(relative_error(train<TiedLayers>(2, sums), train<TiedLayers>(1, {})) > 1e-3);
}
