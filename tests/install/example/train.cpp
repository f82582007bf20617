// Trains a small convolutional network on the digits that libmini draws, with
// DistributedDataParallel, and counts the correct predictions for the test digits.
//
//     train                     starts two ranks itself
//     minirun -n 2 train        is one rank of two

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include <libmini/libmini.hpp>
#include <libmini/training/accuracy.hpp>
#include <libmini/training/rank_device.hpp>

using namespace mini;

namespace {

// The GPU of this rank, if the machine has GPUs, else the CPU.
Device choose_device() {
    const bool has_gpu = cuda_device_count() > 0 && !cuda_is_simulated();
    return training::launched_device(has_gpu ? "cuda" : "cpu").value();
}

void train() {
    const Device device = choose_device();
    const dist::ProcessGroupGuard group;  // ends the group, even if this function throws
    manual_seed(1234);
    nn::Sequential net(std::make_unique<nn::Conv2d>(1, 8, 5),
                       std::make_unique<nn::MaxPool2d>(4), std::make_unique<nn::ReLU>(),
                       std::make_unique<nn::Flatten>(),
                       std::make_unique<nn::Linear>(8 * 6 * 6, 10));
    net.to(device);
    parallel::DistributedDataParallel ddp(net);
    optim::SGD optimizer(net.parameters(), {.lr = 0.05, .momentum = 0.9});

    // load_mnist(folder, train) reads MNIST instead.
    const auto train_set = data::make_digits(/*train=*/true, 2000);
    const auto test_set = data::make_digits(/*train=*/false, 500);
    data::DataLoader loader(
        train_set, {.batch_size = 32,
                    .sampler = std::make_shared<data::DistributedSampler>(*train_set)});
    data::DataLoader test_loader(
        test_set, {.batch_size = 100,
                   .sampler = std::make_shared<data::DistributedEvalSampler>(*test_set)});

    training::OnDevice model(net, device);  // for batches in CPU memory
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
        loader.set_epoch(epoch);
        Tensor loss;
        for (const data::Batch& batch : loader) {
            optimizer.zero_grad();
            loss = cross_entropy(ddp(batch.data.to(device)), batch.target.to(device));
            loss.backward();
            clip_grad_norm_(net.parameters(), 1.0);
            optimizer.step();
        }
        const auto accuracy = training::count_correct(model, test_loader, *group);
        std::printf("rank %d of %d: loss %.3f, accuracy %.3f\n", group->rank(),
                    group->world_size(), loss.item(), accuracy.share());
    }
    if (group->rank() == 0) io::save_safetensors("digits.safetensors", net.state_dict());
}

}  // namespace

int main() {
    try {
        if (std::getenv("RANK") != nullptr)
            train();
        else
            dist::spawn([](int) { train(); }, 2);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "train: %s\n", error.what());
        return 1;
    }
}
