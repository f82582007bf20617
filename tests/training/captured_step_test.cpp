// Steps that are replayed from a CUDA graph, with new batches, give the same results as
// plain steps.

#include "libmini/training/captured_step.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include "libmini/kernels/cuda/devices.hpp"
#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/nn/dropout.hpp"
#include "libmini/optim/adam.hpp"
#include "tests/parallel/devices.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using training::CapturedStep;

namespace {

const Device kCuda = Device::cuda(0);

struct Outcome {
    std::vector<double> losses;
    std::vector<float> parameters;
    int64_t replays = 0;
    int64_t losses_computed = 0;  // by the host: for the plain steps and the capture
};

// The options of a training job.
struct Job {
    bool captured = false;
    std::vector<int64_t> batch_sizes;
    double lr_factor = 1.0;  // multiplies the learning rate after each step
    Device batches_on = Device::cpu();
    Device device = kCuda;
};

// Trains the ConvNet without dropout, by SGD with momentum.
Outcome train(const Job& job) {
    manual_seed(1234);
    nn::ConvNet model({.dropout = false});
    model.to(job.device);
    optim::SGD optimizer(model.parameters(),
                         {.lr = 0.01, .momentum = 0.5, .dampening = 0.1});
    Outcome outcome;
    CapturedStep step(optimizer, [&](const std::vector<Tensor>& batch) {
        ++outcome.losses_computed;
        return cross_entropy(model(batch[0]), batch[1]);
    });

    for (size_t i = 0; i < job.batch_sizes.size(); ++i) {
        const Digits batch = digits(job.batch_sizes[i], static_cast<int64_t>(i));
        Tensor loss;
        if (job.captured) {
            loss =
                step({batch.images.to(job.batches_on), batch.labels.to(job.batches_on)});
        } else {
            optimizer.zero_grad();
            loss = cross_entropy(model(batch.images.to(job.device)),
                                 batch.labels.to(job.device));
            loss.backward();
            optimizer.step();
        }
        outcome.losses.push_back(loss.item());
        optimizer.set_lr(optimizer.lr() * job.lr_factor);
    }
    outcome.parameters = flat_parameters(model);
    outcome.replays = step.replays();
    return outcome;
}

// Checks that a captured job and a plain job with the same steps are bitwise identical.
void check_equal(Job job, int64_t replays) {
    const Outcome plain = train(job);
    job.captured = true;
    const Outcome captured = train(job);
    CHECK(plain.replays == 0);
    CHECK(captured.replays == replays);
    const auto steps = static_cast<int64_t>(job.batch_sizes.size());
    CHECK(captured.losses_computed == steps - replays + 1);  // captured once
    CHECK(captured.losses == plain.losses);
    CHECK(captured.parameters == plain.parameters);
}

// Returns the outputs of `count` captured steps that apply dropout to ones.
std::vector<std::vector<float>> masks(int count, uint64_t seed) {
    manual_seed(seed);
    Tensor weight = Tensor::ones({400}, DType::kFloat32, kCuda).set_requires_grad();
    optim::SGD optimizer({weight}, {.lr = 0.0});
    Tensor y;
    CapturedStep step(optimizer, [&](const std::vector<Tensor>& batch) {
        y = dropout(batch[0] * weight, 0.5, true, default_generator());
        return sum(y);
    });
    const Tensor ones = Tensor::ones({400});
    std::vector<std::vector<float>> all;
    for (int i = 0; i < count; ++i) {
        const double loss = step({ones}).item();
        all.push_back(y.to_vector<float>());
        const auto kept = std::count(all.back().begin(), all.back().end(), 2.0f);
        CHECK(loss == 2.0 * static_cast<double>(kept));
    }
    return all;
}

}  // namespace

TEST_CASE("replayed steps are bitwise identical to plain steps") {
    check_equal({.batch_sizes = std::vector<int64_t>(7, 8)}, 5);
    check_equal({.batch_sizes = std::vector<int64_t>(7, 8), .batches_on = kCuda}, 5);
}

TEST_CASE("steps can be replayed on a device that is not the current device") {
    const Device last = Device::cuda(cuda_device_count() - 1);
    check_equal({.batch_sizes = std::vector<int64_t>(7, 8), .device = last}, 5);
    CHECK(cuda::current_device() == 0);
}

TEST_CASE(
    "a batch of another size is computed without a graph between replays and at the "
    "end") {
    check_equal({.batch_sizes = {8, 8, 8, 3, 8, 8, 1}}, 3);
    check_equal({.batch_sizes = {8, 3, 8, 8, 8, 3, 8}}, 3);
}

TEST_CASE("a new learning rate at each step takes effect without another capture") {
    check_equal({.batch_sizes = std::vector<int64_t>(7, 8), .lr_factor = 0.7}, 5);
}

TEST_CASE("plain steps can follow after the graph is destroyed") {
    manual_seed(3);
    nn::ConvNet model({.dropout = false});
    model.to(kCuda);
    optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});
    {
        CapturedStep step(optimizer, [&](const std::vector<Tensor>& batch) {
            return cross_entropy(model(batch[0]), batch[1]);
        });
        for (int64_t i = 0; i < 4; ++i) {
            const Digits batch = digits(6, i);
            step({batch.images, batch.labels});
        }
    }
    for (int64_t i = 4; i < 7; ++i) train_step(model, optimizer, digits(6, i), kCuda);

    manual_seed(3);
    nn::ConvNet alone({.dropout = false});
    alone.to(kCuda);
    optim::SGD plain(alone.parameters(), {.lr = 0.01, .momentum = 0.5});
    for (int64_t i = 0; i < 7; ++i) train_step(alone, plain, digits(6, i), kCuda);
    CHECK(flat_parameters(model) == flat_parameters(alone));
}

TEST_CASE("dropout masks differ between replays and depend on the seed") {
    const auto first = masks(7, 1);
    CHECK(std::set(first.begin(), first.end()).size() == 7);
    for (const auto& mask : first) {
        const auto kept = std::count(mask.begin(), mask.end(), 2.0f);
        CHECK(kept > 120);  // 200 of 400 expected; 80 are eight standard deviations
        CHECK(kept < 280);
    }
    CHECK(masks(7, 1) == first);
    CHECK(masks(7, 2) != first);
}

TEST_CASE("an optimizer that a graph cannot repeat is rejected with the reason") {
    const auto loss = [](const std::vector<Tensor>& batch) { return sum(batch[0]); };
    Toy module;
    optim::SGD on_cpu(module.parameters(), {.lr = 0.1});
    CHECK(contains(message_of<UsageError>([&] { CapturedStep(on_cpu, loss); }),
                   "a parameter is on cpu; all must be on one CUDA device"));
    module.to(kCuda);
    optim::Adam adam(module.parameters(), {});
    CHECK(contains(message_of<UsageError>([&] { CapturedStep(adam, loss); }),
                   "only SGD's step can be captured"));
}

TEST_CASE("a loss that reads values from the device cannot be captured") {
    Toy module;
    module.to(kCuda);
    optim::SGD sgd(module.parameters(), {.lr = 0.1});
    CapturedStep step(sgd, [&](const std::vector<Tensor>& batch) {
        const Tensor loss = sum(module(batch[0]));
        loss.item();
        return loss;
    });
    const Tensor x = draw({2, 3}, 1);
    step({x});
    step({x});
    CHECK(message_of<cuda::CudaError>([&] { step({x}); }) != "");
}
