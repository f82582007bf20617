// dealing: compares two divisions of a dataset that is sorted by class: parts of a
// shuffled list (DataPartitioner), and blocks of the sorted list.
//
//     dealing            5 ranks, as threads; 3,000 drawn digits, about 300 per class
//
// Prints the number of samples that are lost when 1/P of the samples is rounded down, the
// classes of each rank, and the accuracy after each epoch, which measure.py draws:
//
//     plain            averages the gradients in each step
//     batch norm       the same, with batch normalisation
//     once an epoch    averages no gradients, but the parameters after each epoch
//
// Each rank tests its own network on all test digits; the table has the ranks' mean.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "labs/07-partition/train_on_parts.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/datasets/digits.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;
using Indices = std::vector<int64_t>;
using data::Partition;

constexpr int64_t kTest = 1000;

struct Options {
    int64_t samples = 3000;
    int ranks = 5;
    int epochs = 10;
};

std::vector<double> equal_shares(int ranks) {
    return std::vector<double>(static_cast<size_t>(ranks), 1.0 / ranks);
}

void print_lost() {
    constexpr int64_t n = 60000;
    std::cout << fmt::format("Of {} samples the fractions 1/P lose:\n\n", n);
    std::cout << "  ranks P   lost by int(1/P * n)   lost with assign_remainder\n";
    const auto lost = [](int ranks, bool assign_remainder) {
        const auto lengths =
            data::partition_lengths(equal_shares(ranks), n, assign_remainder);
        return n - std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    };
    for (const int ranks : {2, 3, 4, 6, 7, 9, 11, 14, 16, 48, 49, 64, 100, 1000})
        std::cout << fmt::format("  {:7}   {:20}   {:26}\n", ranks, lost(ranks, false),
                                 lost(ranks, true));
}

// Returns digits sorted by class, as if they were read from one file per class.
std::shared_ptr<const Partition> sorted_by_class(int64_t samples) {
    const auto digits = data::make_digits(true, samples);
    Indices order(static_cast<size_t>(samples));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::ranges::stable_sort(order, {}, [&](int64_t i) { return digits->label(i); });
    return std::make_shared<Partition>(digits, order);
}

// Returns the parts of all ranks: cut from a shuffled list, or blocks of the sorted list.
std::vector<Partition> divide(const std::shared_ptr<const Partition>& dataset, int ranks,
                              bool shuffled) {
    std::vector<Partition> parts;
    if (shuffled) {
        const data::DataPartitioner partitioner(dataset, equal_shares(ranks));
        for (int rank = 0; rank < ranks; ++rank) parts.push_back(partitioner.use(rank));
        return parts;
    }
    Indices all(static_cast<size_t>(dataset->size()));
    std::iota(all.begin(), all.end(), int64_t{0});
    const auto lengths = data::partition_lengths(equal_shares(ranks), dataset->size());
    for (const Indices& run : data::cut_into_runs(all, lengths))
        parts.emplace_back(dataset, run);
    return parts;
}

void print_classes(const std::vector<Partition>& parts) {
    for (size_t rank = 0; rank < parts.size(); ++rank) {
        std::set<int64_t> classes;
        for (int64_t i = 0; i < parts[rank].size(); ++i)
            classes.insert(parts[rank].get(i).label());
        std::cout << fmt::format("  rank {}: classes {}\n", rank,
                                 fmt::join(classes, " "));
    }
}

void run(const Options& options) {
    print_lost();
    const auto dataset = sorted_by_class(options.samples);
    const auto test = data::make_digits(false, kTest);
    const auto shuffled = divide(dataset, options.ranks, true);
    const auto blocks = divide(dataset, options.ranks, false);
    std::cout << "\nBlocks of the sorted digits:\n\n";
    print_classes(blocks);

    const std::vector<labs::Variant> variants = {
        {.name = "plain"},
        {.name = "batch norm", .batch_norm = true},
        {.name = "once an epoch", .each_epoch = true}};
    std::cout << "\nAccuracy after each epoch:\n\n";
    for (const labs::Variant& variant : variants)
        for (const auto* parts : {&shuffled, &blocks}) {
            const auto accuracies =
                labs::train_on_parts(variant, *parts, options.epochs, *test);
            std::cout << fmt::format(
                "  {:24}",
                variant.name + (parts == &shuffled ? ", shuffled" : ", blocks"));
            for (const double accuracy : accuracies)
                std::cout << fmt::format("  {:.3f}", accuracy);
            std::cout << std::endl;
        }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("dealing", [&] {
        Options options;
        CommandLine line("What a division of sorted samples does to training.",
                         "dealing");
        training::add_count(line, "--samples", options.samples, "training digits");
        training::add_count(line, "--ranks", options.ranks, "ranks, as threads");
        training::add_count(line, "--epochs", options.epochs, "epochs");
        if (line.parse(argc, argv)) run(options);
    });
}
