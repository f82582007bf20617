// A bug hunt: a loader whose workers add random noise to each batch. All batches arrive
// in order, but several batches get the same noise. Find out why, and why more batches
// get the same noise if there are more workers.
//
//     lab08_bug_hunt
//
// Exit codes: 0 both bugs are fixed, 1 otherwise.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <thread>
#include <vector>

#include "libmini/random/random.hpp"

namespace {

using Noise = std::vector<double>;

constexpr size_t kBatches = 6;
constexpr uint64_t kSeed = 1234;

class Loader {
  public:
    explicit Loader(size_t workers) : workers_(workers) {}

    // Returns the noise of each batch of the next epoch. Worker w fetches the batches w,
    // w + workers, w + 2 workers, ...
    Noise epoch() {
        Noise noise(kBatches);
        std::vector<std::thread> threads;
        for (size_t w = 0; w < workers_; ++w)
            threads.emplace_back([this, w, &noise] {
                mini::manual_seed(base_seed_);
                for (size_t k = w; k < kBatches; k += workers_)
                    noise[k] = mini::default_generator().uniform_double();
            });
        for (std::thread& thread : threads) thread.join();
        return noise;
    }

  private:
    size_t workers_;
    uint64_t base_seed_ = kSeed;
};

}  // namespace

int main() {
    std::vector<std::vector<Noise>> seen;
    for (const size_t workers : {1, 2, 3}) {
        Loader loader(workers);
        seen.push_back({loader.epoch(), loader.epoch()});
        for (size_t e = 0; e < 2; ++e)
            std::cout << fmt::format("{} workers, epoch {}: noise {:.3f}\n", workers, e,
                                     fmt::join(seen.back()[e], " "));
    }

    // Each batch of both epochs must have different noise, and the noise must not depend
    // on the number of workers.
    std::set<double> different;
    for (const Noise& epoch : seen[2]) different.insert(epoch.begin(), epoch.end());
    const bool repeatable = seen[0] == seen[1] && seen[1] == seen[2];
    std::cout << fmt::format("3 workers: {} different numbers in {} batches\n",
                             different.size(), 2 * kBatches);
    std::cout << (repeatable ? "the noise does not depend on the workers\n"
                             : "the noise depends on the number of workers\n");
    return repeatable && different.size() == 2 * kBatches ? 0 : 1;
}
