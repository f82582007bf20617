// A bug hunt: a sampler with two mistakes. In each epoch each sample is on one rank, the
// ranks have equally many, and each epoch has another order, so the author's tests pass.
// Find out why a rank sees few samples in a long training, and why a large dataset loses
// one.
//
//     lab09_bug_hunt        prints the symptoms; exits with 1 while a bug is left

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <vector>

#include "libmini/random/random.hpp"

namespace {

using Indices = std::vector<int64_t>;

constexpr int64_t kSamples = 24;
constexpr int64_t kEpochs = 100;

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
        mini::Generator generator(static_cast<uint64_t>(epoch_));
        const Indices order = mini::randperm(num_samples_, generator);
        Indices mine;
        for (const int64_t k : order)
            mine.push_back((rank_ + k * num_replicas_) % dataset_size_);
        return mine;
    }

  private:
    int64_t dataset_size_;
    int num_replicas_, rank_;
    int64_t num_samples_;
    int64_t epoch_ = 0;
};

// Returns how many different samples rank 0 has seen after kEpochs epochs.
size_t seen_by_rank_0(int num_replicas) {
    Sampler sampler(kSamples, num_replicas, 0);
    std::set<int64_t> seen;
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        sampler.set_epoch(epoch);
        const Indices indices = sampler.indices();
        seen.insert(indices.begin(), indices.end());
    }
    return seen.size();
}

// Returns whether all ranks together have each sample once in each epoch.
bool deals_each_sample_once(int num_replicas) {
    for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
        std::set<int64_t> dealt;
        for (int rank = 0; rank < num_replicas; ++rank) {
            Sampler sampler(kSamples, num_replicas, rank);
            sampler.set_epoch(epoch);
            const Indices indices = sampler.indices();
            dealt.insert(indices.begin(), indices.end());
        }
        if (dealt.size() != kSamples) return false;
    }
    return true;
}

}  // namespace

int main() {
    bool right = true;
    for (const int num_replicas : {2, 3, 4, 6}) {
        const size_t seen = seen_by_rank_0(num_replicas);
        const bool once = deals_each_sample_once(num_replicas);
        right = right && seen == kSamples && once;
        std::cout << fmt::format(
            "{} ranks: each sample once in each epoch: {}; after {} epochs rank 0 has "
            "seen "
            "{} of {} samples\n",
            num_replicas, once ? "yes" : "no", kEpochs, seen, kSamples);
    }
    const int64_t n = 16'777'217, each = Sampler(n, 2, 0).size();
    std::cout << fmt::format("{} samples on 2 ranks: {} each, {} in all\n", n, each,
                             2 * each);
    return right && 2 * each >= n ? 0 : 1;
}
