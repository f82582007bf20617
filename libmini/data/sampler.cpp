#include "libmini/data/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/data/replica.hpp"
#include "libmini/random/multinomial.hpp"
#include "libmini/random/random.hpp"

namespace mini::data {
namespace {

int64_t checked_size(const char* who, int64_t dataset_size) {
    check_dataset_size(who, dataset_size);
    return dataset_size;
}

int64_t checked_num_samples(const char* who, int64_t num_samples) {
    if (num_samples < 1)
        throw UsageError(who, ": num_samples is ", num_samples,
                         " but must be at least 1");
    return num_samples;
}

// Returns num_samples indices from 0 .. n-1; draws each index with one randint(0, n).
std::vector<int64_t> draw_with_replacement(int64_t n, int64_t num_samples,
                                           Generator& generator) {
    std::vector<int64_t> order(static_cast<size_t>(num_samples));
    for (int64_t& index : order) index = generator.randint(0, n);
    return order;
}

// Returns the first num_samples indices of concatenated permutations of 0 .. n-1. Draws
// num_samples / n + 1 permutations, with the quotient rounded down, even if no index of
// the last permutation is returned. REQUIRES: n and num_samples are at least 1.
std::vector<int64_t> draw_permutations(int64_t n, int64_t num_samples,
                                       Generator& generator) {
    // [lab08.3] Concatenate permutations, and always draw one more.
    std::vector<int64_t> order;
    order.reserve(static_cast<size_t>(num_samples));
    for (int64_t round = 0; round <= num_samples / n; ++round) {
        const std::vector<int64_t> next = randperm(n, generator);
        const int64_t missing = num_samples - static_cast<int64_t>(order.size());
        order.insert(order.end(), next.begin(), next.begin() + std::min(n, missing));
    }
    return order;
    // [lab08.3]
}

}  // namespace

SequentialSampler::SequentialSampler(int64_t dataset_size)
    : dataset_size_(checked_size("SequentialSampler", dataset_size)) {}

std::vector<int64_t> SequentialSampler::indices() {
    std::vector<int64_t> order(static_cast<size_t>(dataset_size_));
    std::iota(order.begin(), order.end(), int64_t{0});
    return order;
}

RandomSampler::RandomSampler(int64_t dataset_size, RandomSamplerOptions options)
    : dataset_size_(checked_size("RandomSampler", dataset_size)),
      num_samples_(options.num_samples.value_or(dataset_size)),
      replacement_(options.replacement),
      generator_(std::move(options.generator)) {
    if (dataset_size == 0)
        throw UsageError(
            "RandomSampler: the dataset is empty, so there is nothing to draw; use "
            "SequentialSampler, or add samples to the dataset");
    checked_num_samples("RandomSampler", num_samples_);
}

std::vector<int64_t> RandomSampler::indices() {
    const auto draw = replacement_ ? draw_with_replacement : draw_permutations;
    if (generator_) return draw(dataset_size_, num_samples_, *generator_);

    Generator generator(static_cast<uint64_t>(default_generator().random_int64()));
    return draw(dataset_size_, num_samples_, generator);
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<int64_t> indices,
                                         std::shared_ptr<Generator> generator)
    : indices_(std::move(indices)), generator_(std::move(generator)) {}

std::vector<int64_t> SubsetRandomSampler::indices() {
    Generator& generator = generator_ ? *generator_ : default_generator();
    // [lab08.3] Permute the positions in the list.
    std::vector<int64_t> order = randperm(size(), generator);
    for (int64_t& index : order) index = indices_[static_cast<size_t>(index)];
    return order;
    // [lab08.3]
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights,
                                             int64_t num_samples, bool replacement,
                                             std::shared_ptr<Generator> generator)
    : weights_(std::move(weights)),
      num_samples_(checked_num_samples("WeightedRandomSampler", num_samples)),
      replacement_(replacement),
      generator_(std::move(generator)) {
    // Check the weights now, not in the first epoch.
    check_multinomial(weights_, num_samples, replacement);
}

std::vector<int64_t> WeightedRandomSampler::indices() {
    Generator& generator = generator_ ? *generator_ : default_generator();
    return multinomial(weights_, num_samples_, replacement_, generator);
}

}  // namespace mini::data
