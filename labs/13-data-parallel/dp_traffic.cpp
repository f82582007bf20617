// Counts the bytes that one training step moves: DataParallel beside DDP.
//
//     dp_traffic [--batch-size 64] [--most 8]
//
// Computes gradients of the tutorial's ConvNet on 1 to `most` workers. Counts the bytes
// of one step after the warm-up, and writes one line of JSON for each number of workers:
//
//     dp        bytes to and from device 0 by DataParallel, by kind
//     ddp       bytes that the busiest rank of DistributedDataParallel sends
//
// The batch size counts the samples of all workers together. The counts are exact, and
// the same on any machine.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/parallel/data_parallel.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

struct Options {
    int most = 8;
    int64_t batch_size = 64;
};

// Runs one forward and backward pass on `rows` images of noise.
void step(nn::Module& network, int64_t rows) {
    Tensor images = Tensor::empty({rows, 1, 28, 28});
    Generator generator(1);
    fill_uniform(images.span<float>(), 0.0, 1.0, generator);
    const Tensor labels = Tensor::zeros({rows}, DType::kInt64);
    network.zero_grad();
    cross_entropy(network(images), labels).backward();
}

parallel::DataParallelStats by_data_parallel(int count, int64_t rows) {
    const auto make = [] {
        return std::make_unique<nn::ConvNet>(nn::ConvNetOptions{.dropout = false});
    };
    const auto module = make();
    std::vector<Device> devices;
    for (int i = 0; i < count; ++i) devices.push_back(Device::cpu(i));
    parallel::DataParallel network(*module, make, {.device_ids = devices});
    step(network, rows);
    const parallel::DataParallelStats before = network.stats();
    step(network, rows);
    const parallel::DataParallelStats& after = network.stats();
    return {after.bytes_scattered - before.bytes_scattered,
            after.bytes_replicated - before.bytes_replicated,
            after.bytes_gathered - before.bytes_gathered,
            after.bytes_reduced - before.bytes_reduced};
}

int64_t by_ddp(int count, int64_t rows) {
    std::vector<int64_t> sent(static_cast<size_t>(count));
    dist::run_threads(count, [&](dist::ProcessGroup& group) {
        nn::ConvNet module({.dropout = false});
        parallel::DistributedDataParallel network(module);
        const int64_t mine = (rows + count - 1 - group.rank()) / count;
        step(network, mine);
        step(network, mine);  // in the second step the ranks also agree on the buckets
        group.events().clear();
        step(network, mine);
        for (const Event& event : group.events().snapshot(EventKind::kCollectiveEnd))
            sent[static_cast<size_t>(group.rank())] += event.bytes;
    });
    return std::ranges::max(sent);
}

void run(const Options& options) {
    for (int count = 1; count <= options.most; ++count) {
        const auto dp = by_data_parallel(count, options.batch_size);
        const nlohmann::ordered_json json = {{"workers", count},
                                             {"dp",
                                              {{"scattered", dp.bytes_scattered},
                                               {"replicated", dp.bytes_replicated},
                                               {"gathered", dp.bytes_gathered},
                                               {"reduced", dp.bytes_reduced},
                                               {"total", dp.total()}}},
                                             {"ddp", by_ddp(count, options.batch_size)}};
        std::cout << json.dump() << std::endl;
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("dp_traffic", [&] {
        Options options;
        CommandLine line("Counts the bytes of a step of DataParallel and of DDP.",
                         "dp_traffic");
        training::add_count(line, "--most", options.most, "workers, at most");
        training::add_count(line, "--batch-size", options.batch_size,
                            "samples per step, of all workers together");
        if (line.parse(argc, argv)) run(options);
    });
}
