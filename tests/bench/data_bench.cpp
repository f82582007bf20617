// Measures sampling and loading of data: prints one line of JSON per case.
//
//     data_bench [--case NAME] [--samples N] [--images N] [--repeats K]
//
//     distributed_sampler   indices of rank 0 of 3 replicas, shuffled, one epoch per pass
//     randperm              one permutation
//     mnist_b64_w0 ...      a pass over MNIST, batch 64 or 128, 0 or 2 workers: bytes
//                           decoded, normalised and batched, read in random order
//     short_epochs_w0 ...   1,000 epochs of two batches of one number: the cost of
//                           starting an epoch
//
// MNIST is read from $MINI_DATA_DIR/mnist, or replaced by the embedded digits.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/tensor_dataset.hpp"
#include "libmini/datasets/locate.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/vision/transforms.hpp"

using mini::Tensor;
using mini::data::Batch;
using mini::data::DataLoader;
using mini::data::Dataset;

namespace {

struct Options {
    std::string only;  // the name of one case, or "" for all cases
    int64_t samples = 10'000'000;
    int64_t images = 60'000;
    int repeats = 5;
};

struct Case {
    std::string name;
    std::function<int64_t()> run;  // returns the number of indices or samples
};

// Runs one pass as a warm-up, then measures `repeats` passes.
nlohmann::json measure(const Case& c, int repeats) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    int64_t count = c.run();
    for (int i = 0; i < repeats; ++i) {
        const auto start = Clock::now();
        count = c.run();
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return {{"case", c.name}, {"count", count}, {"seconds", seconds}};
}

std::vector<Case> index_cases(int64_t n) {
    const auto sampler = std::make_shared<mini::data::DistributedSampler>(
        n, mini::data::DistributedSamplerOptions{.num_replicas = 3, .rank = 0});
    const auto list = [sampler, epoch = int64_t{0}]() mutable {
        sampler->set_epoch(epoch++);
        return static_cast<int64_t>(sampler->indices().size());
    };
    const auto permute = [n] {
        mini::Generator generator(0);
        return static_cast<int64_t>(mini::randperm(n, generator).size());
    };
    return {{"distributed_sampler", list}, {"randperm", permute}};
}

// Reads one epoch and returns its number of samples.
int64_t read_all(DataLoader& loader) {
    int64_t samples = 0;
    for (const Batch& batch : loader) samples += batch.size();
    return samples;
}

std::vector<Case> short_cases() {
    const auto numbers = std::make_shared<mini::data::TensorDataset>(Tensor::zeros({2}),
                                                                     Tensor::zeros({2}));
    std::vector<Case> cases;
    for (const int workers : {0, 2}) {
        const auto loader = std::make_shared<DataLoader>(
            numbers, mini::data::DataLoaderOptions{.num_workers = workers});
        const auto run = [loader] {
            int64_t samples = 0;
            for (int e = 0; e < 1000; ++e) samples += read_all(*loader);
            return samples;
        };
        cases.push_back({mini::concat("short_epochs_w", workers), run});
    }
    return cases;
}

std::vector<Case> loader_cases(const std::shared_ptr<const Dataset>& dataset) {
    std::vector<Case> cases;
    for (const int64_t batch_size : {64, 128})
        for (const int workers : {0, 2}) {
            const auto loader = std::make_shared<DataLoader>(
                dataset,
                mini::data::DataLoaderOptions{
                    .batch_size = batch_size, .shuffle = true, .num_workers = workers});
            cases.push_back({mini::concat("mnist_b", batch_size, "_w", workers),
                             [loader] { return read_all(*loader); }});
        }
    return cases;
}

std::vector<Case> image_cases(int64_t wanted) {
    mini::data::DataChoice choice = mini::data::find_data("");
    const auto images = mini::data::load_data(choice, true);
    const int64_t count = std::min(wanted, images->size());
    std::vector<int64_t> first(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) first[static_cast<size_t>(i)] = i;

    std::shared_ptr<const Dataset> mnist = images;
    if (count < images->size())
        mnist = std::make_shared<mini::data::Partition>(images, first);
    return loader_cases(mnist);
}

// Runs the selected cases, and returns whether any case was selected.
bool run_wanted(const std::vector<Case>& cases, const Options& options) {
    bool any = false;
    for (const Case& c : cases) {
        if (!options.only.empty() && options.only != c.name) continue;
        std::cout << measure(c, options.repeats).dump() << std::endl;
        any = true;
    }
    return any;
}

void run(const Options& options) {
    mini::manual_seed(0);
    bool any = run_wanted(index_cases(options.samples), options);
    any |= run_wanted(short_cases(), options);
    if (any && !options.only.empty()) return;  // no need to read the images
    any |= run_wanted(image_cases(options.images), options);
    if (!any)
        throw mini::UsageError("--case " + options.only +
                               ": no such case; see data_bench.cpp");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    mini::CommandLine line("Measures samplers and loaders.", "data_bench");
    line.add("--case", options.only, "only this case");
    line.add("--samples", options.samples, "indices to permute").positive();
    line.add("--images", options.images, "images to load").positive();
    line.add("--repeats", options.repeats, "measured passes per case").positive();
    try {
        if (!line.parse(argc, argv)) return 0;
        run(options);
    } catch (const mini::Error& error) {
        std::cerr << "data_bench: " << error.what() << "\n";
        return 1;
    }
}
