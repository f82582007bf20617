// Trains a small network by DistributedDataParallel, and prints its parameters' sum on each
// rank: the ranks must agree.
//
//     train                     starts two ranks itself
//     minirun -n 2 train        is one rank of two

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <libmini/autograd/functions.hpp>
#include <libmini/data/distributed_sampler.hpp>
#include <libmini/data/loader.hpp>
#include <libmini/data/tensor_dataset.hpp>
#include <libmini/distributed/launch/default_group.hpp>
#include <libmini/distributed/launch/spawn.hpp>
#include <libmini/nn/linear.hpp>
#include <libmini/nn/loss.hpp>
#include <libmini/optim/sgd.hpp>
#include <libmini/parallel/ddp.hpp>
#include <libmini/random/random.hpp>

using namespace mini;

namespace {

struct Net : nn::Module {
    nn::Linear fc1 = nn::Linear(4, 16);
    nn::Linear fc2 = nn::Linear(16, 1);

    Net() {
        register_module("fc1", fc1);
        register_module("fc2", fc2);
    }
    Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x))); }
};

// 40 samples of y = x[0] + 2 x[1] + 3 x[2] + 4 x[3].
std::shared_ptr<data::Dataset> make_dataset() {
    Generator generator(1);
    std::vector<float> x(40 * 4);
    std::vector<float> y(40);
    fill_normal(x, 0, 1, generator);
    for (size_t i = 0; i < y.size(); ++i)
        for (size_t j = 0; j < 4; ++j) y[i] += static_cast<float>(j + 1) * x[4 * i + j];
    return std::make_shared<data::TensorDataset>(Tensor::from(x, {40, 4}),
                                                 Tensor::from(y, {40, 1}));
}

void train() {
    const auto group = dist::init_process_group();
    manual_seed(static_cast<uint64_t>(group->rank()));  // DDP sends the values of rank 0
    Net net;
    parallel::DistributedDataParallel ddp(net);
    optim::SGD optimizer(net.parameters(), {.lr = 0.01, .momentum = 0.9});

    const auto dataset = make_dataset();
    const auto sampler = std::make_shared<data::DistributedSampler>(*dataset);
    data::DataLoader loader(dataset, {.batch_size = 5, .sampler = sampler});
    double loss_of_step = 0.0;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
        sampler->set_epoch(epoch);
        for (const data::Batch& batch : loader) {
            const Tensor loss = nn::MSELoss()(ddp(batch.data), batch.target);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            loss_of_step = loss.item();
        }
    }

    double sum = 0.0;
    for (const Tensor& parameter : net.parameters())
        for (const float value : parameter.to_vector<float>()) sum += value;
    std::printf("rank %d of %d: parameters %a, loss %.3f\n", group->rank(),
                group->world_size(), sum, loss_of_step);
    dist::destroy_process_group();
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
