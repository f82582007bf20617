// dealing: the cost of the tutorial's partition, compared with a sampler that divides the
// samples again in every epoch.
//
//     dealing                                 60,000 samples, as MNIST has
//
// Prints two tables: the number of samples that the fractions lose, by number of ranks;
// and the share of the dataset that one rank has seen, by epoch, which measure.py draws.
// Also prints the time that both methods take.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "labs/numbered.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;
using labs::Numbered;

struct Options {
    int64_t samples = 60000;
    int ranks = 4;
    int epochs = 20;
};

std::vector<double> equal_shares(int ranks) {
    return std::vector<double>(static_cast<size_t>(ranks), 1.0 / ranks);
}

int64_t lost(int64_t samples, int ranks, bool assign_remainder) {
    int64_t left = samples;
    for (const int64_t length :
         data::partition_lengths(equal_shares(ranks), samples, assign_remainder))
        left -= length;
    return left;
}

// The share of all samples that rank 0 has seen after each epoch.
class Seen {
  public:
    explicit Seen(int64_t samples) : seen_(static_cast<size_t>(samples)) {}

    double after(const std::vector<int64_t>& epoch) {
        for (const int64_t sample : epoch) seen_[static_cast<size_t>(sample)] = true;
        const auto count = std::count(seen_.begin(), seen_.end(), true);
        return static_cast<double>(count) / static_cast<double>(seen_.size());
    }

  private:
    std::vector<bool> seen_;
};

template <typename Body>
double milliseconds(const Body& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    return took.count();
}

void print_lost(const Options& options) {
    std::cout << fmt::format("Of {} samples the fractions 1/P lose:\n\n",
                             options.samples);
    std::cout << "  ranks P   lost by int(1/P * n)   lost with assign_remainder\n";
    for (const int ranks : {2, 3, 4, 6, 7, 9, 11, 14, 16, 48, 49, 64, 100, 1000})
        std::cout << fmt::format("  {:7}   {:20}   {:26}\n", ranks,
                                 lost(options.samples, ranks, false),
                                 lost(options.samples, ranks, true));
}

void run(const Options& options) {
    print_lost(options);

    // Follow rank 0 through the epochs, with both methods.
    const auto dataset = std::make_shared<Numbered>(options.samples);
    std::vector<int64_t> part;
    const double partition_took = milliseconds([&] {
        part = data::DataPartitioner(dataset, equal_shares(options.ranks)).use(0).index();
    });
    data::DistributedSampler sampler(options.samples,
                                     {.num_replicas = options.ranks, .rank = 0});
    Seen by_partition(options.samples), by_sampler(options.samples);
    double sampler_took = 0;
    std::cout << fmt::format(
        "\nRank 0 of {} has seen, of all samples:\n\n"
        "  epochs   DataPartitioner   DistributedSampler   1 - (1 - 1/P)^epochs\n",
        options.ranks);
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
        sampler.set_epoch(epoch);
        std::vector<int64_t> mine;
        sampler_took += milliseconds([&] { mine = sampler.indices(); });
        const double fixed = by_partition.after(part), fresh = by_sampler.after(mine);
        std::cout << fmt::format("  {:6}   {:15.4f}   {:18.4f}   {:20.4f}\n", epoch + 1,
                                 fixed, fresh,
                                 1 - std::pow(1 - 1.0 / options.ranks, epoch + 1));
    }
    std::cout << fmt::format(
        "\nDealing takes {:.2f} ms once with DataPartitioner, {:.2f} ms an epoch with\n"
        "DistributedSampler.\n",
        partition_took, sampler_took / options.epochs);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("dealing", [&] {
        Options options;
        CommandLine line("The cost of the tutorial's partition, compared with a sampler.",
                         "dealing");
        training::add_count(line, "--samples", options.samples, "samples of the dataset");
        training::add_count(line, "--ranks", options.ranks,
                            "number of ranks; rank 0 is followed");
        training::add_count(line, "--epochs", options.epochs, "number of epochs");
        if (line.parse(argc, argv)) run(options);
    });
}
