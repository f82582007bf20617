// A bug hunt: a sampler for two ranks, with two mistakes. Its indices for small datasets
// are right, so the author's tests pass. Find out why a network with dropout drops the
// same units with every seed, and why a large dataset loses a sample.
//
//     lab09_bug_hunt        prints the symptoms; exits with 1 while a bug is left

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/random/random.hpp"

namespace {

using Indices = std::vector<int64_t>;

class Sampler {
  public:
    Sampler(int64_t dataset_size, int num_replicas, int rank)
        : dataset_size_(dataset_size),
          num_replicas_(num_replicas),
          rank_(rank),
          num_samples_(static_cast<int64_t>(std::ceil(
              static_cast<float>(dataset_size) / static_cast<float>(num_replicas)))) {}

    int64_t size() const { return num_samples_; }
    void set_epoch(int64_t epoch) { epoch_ = epoch; }

    Indices indices() const {
        mini::manual_seed(static_cast<uint64_t>(epoch_));
        const Indices order = mini::randperm(dataset_size_, mini::default_generator());
        Indices mine;
        for (int64_t k = 0; k < num_samples_; ++k)
            mine.push_back(
                order[static_cast<size_t>((rank_ + k * num_replicas_) % dataset_size_)]);
        return mine;
    }

  private:
    int64_t dataset_size_;
    int num_replicas_, rank_;
    int64_t num_samples_;
    int64_t epoch_ = 0;
};

// Returns the dropout mask of eight units in the first step of a training with this seed.
std::vector<float> mask_of_training(uint64_t seed) {
    mini::manual_seed(seed);
    Sampler sampler(10, 2, 0);
    sampler.set_epoch(0);
    sampler.indices();
    std::vector<float> mask(8);
    mini::fill_bernoulli(mask, 0.5, mini::default_generator());
    return mask;
}

}  // namespace

int main() {
    const auto first = mask_of_training(1), second = mask_of_training(2);
    std::cout << fmt::format("seed 1: dropout keeps {}\n", fmt::join(first, " "));
    std::cout << fmt::format("seed 2: dropout keeps {}\n", fmt::join(second, " "));

    const int64_t n = 16'777'217, each = Sampler(n, 2, 0).size();
    std::cout << fmt::format("{} samples on 2 ranks: {} each, {} in all\n", n, each,
                             2 * each);
    return first == second || 2 * each < n ? 1 : 0;
}
