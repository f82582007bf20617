// A bug hunt: a training was stopped, and begins again in the middle of an epoch. Its
// loader's workers add random noise to the samples. Nothing depends on the number of
// workers; but the batches are not those of a training that was never stopped.
//
//     lab08_bug_hunt
//
// Exit codes: 0 both bugs are fixed, 1 otherwise.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "libmini/random/random.hpp"

namespace {

using Batch = std::vector<double>;  // of each sample its index plus its noise, below 1

constexpr size_t kSamples = 8;
constexpr size_t kBatchSize = 2;
constexpr size_t kBatches = kSamples / kBatchSize;  // of an epoch
constexpr size_t kEpochs = 3;
constexpr uint64_t kSeed = 1234;

class Loader {
  public:
    explicit Loader(size_t workers) : workers_(workers) {}

    // Returns the batches of the next epoch, from batch `first` on. Worker w fetches each
    // batch whose number has the remainder w.
    std::vector<Batch> epoch(size_t first = 0) {
        const std::vector<int64_t> order = mini::randperm(kSamples, generator_);
        const uint64_t base_seed = generator_.random();
        std::vector<Batch> batches(kBatches - first);
        std::vector<std::thread> threads;
        for (size_t w = 0; w < workers_; ++w)
            threads.emplace_back([&, w] {
                for (size_t k = w; k < batches.size(); k += workers_) {
                    mini::manual_seed(base_seed + k);
                    batches[k] = fetch(order, first + k);
                }
            });
        for (std::thread& thread : threads) thread.join();
        return batches;
    }

  private:
    static Batch fetch(const std::vector<int64_t>& order, size_t batch) {
        Batch samples;
        for (size_t i = batch * kBatchSize; i < (batch + 1) * kBatchSize; ++i)
            samples.push_back(static_cast<double>(order[i]) +
                              mini::default_generator().uniform_double());
        return samples;
    }

    size_t workers_;
    mini::Generator generator_{kSeed};
};

// Returns all samples of a training that begins at batch `first` of `epoch`.
std::vector<double> train(size_t workers, size_t epoch, size_t first) {
    Loader loader(workers);
    std::vector<double> samples;
    for (; epoch < kEpochs; ++epoch, first = 0)
        for (const Batch& batch : loader.epoch(first))
            samples.insert(samples.end(), batch.begin(), batch.end());
    return samples;
}

// Returns how the samples differ, from "the same batches" on.
std::string comparison(const std::vector<double>& samples,
                       const std::vector<double>& expected) {
    if (samples == expected) return "the same batches";
    for (size_t i = 0; i < expected.size(); ++i)
        if (std::floor(samples[i]) != std::floor(expected[i])) return "other samples";
    return "the same samples, with other noise";
}

// Stops a training in several places, and compares. Returns whether it goes on as it
// should.
bool check(size_t workers) {
    const std::vector<double> all = train(workers, 0, 0);
    bool right = true;
    for (const size_t epoch : {0, 1})
        for (const size_t first : {0, 2}) {
            const size_t done = (epoch * kBatches + first) * kBatchSize;
            const std::vector<double> expected(
                all.begin() + static_cast<std::ptrdiff_t>(done), all.end());
            const auto samples = train(workers, epoch, first);
            right = right && samples == expected;
            std::cout << fmt::format("{} workers, from epoch {}, batch {}: {}\n", workers,
                                     epoch, first, comparison(samples, expected));
        }
    return right;
}

}  // namespace

int main() {
    const bool same =
        train(1, 0, 0) == train(2, 0, 0) && train(2, 0, 0) == train(3, 0, 0);
    std::cout << (same ? "the batches do not depend on the workers\n"
                       : "the batches depend on the number of workers\n");
    bool right = same;
    for (const size_t workers : {1, 2, 3}) right = check(workers) && right;
    std::cout << (right ? "the training goes on as if it had not been stopped\n"
                        : "the training does not go on as it should\n");
    return right ? 0 : 1;
}
