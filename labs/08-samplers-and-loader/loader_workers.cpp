// loader_workers: the time of a training step against the number of workers, when a
// transform is slow.
//
//     loader_workers                        prints the table that measure.py draws
//
// Fetching a batch takes 8 ms, and a step takes 4 ms. The step sleeps, like a CPU that
// waits for a GPU. The fetch sleeps too, like a read from a remote disk, or computes.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "libmini/data/loader.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

namespace {

using namespace mini;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Options {
    int64_t batches = 100;
    int fetch_ms = 8, step_ms = 4;
};

// Computes for `time`, in a loop whose speed the constructor measures.
class Computation {
  public:
    explicit Computation(Milliseconds time) {
        // Take the quickest of ten trials: other programs disturbed it least.
        Milliseconds quickest = Milliseconds::max();
        for (int trial = 0; trial < 10; ++trial) {
            const auto start = Clock::now();
            run(kTrial);
            quickest = std::min<Milliseconds>(quickest, Clock::now() - start);
        }
        rounds_ = static_cast<int64_t>(kTrial * (time / quickest));
    }
    void operator()() const { run(rounds_); }

  private:
    static constexpr int64_t kTrial = 5'000'000;

    static void run(int64_t rounds) {
        volatile uint32_t state = 1;
        for (int64_t i = 0; i < rounds; ++i) state = state * 1664525u + 1013904223u;
    }

    int64_t rounds_ = 0;
};

// A dataset with one number per sample and a slow transform.
class Slow : public data::Dataset {
  public:
    Slow(int64_t size, std::function<void()> transform)
        : size_(size), transform_(std::move(transform)) {}
    int64_t size() const override { return size_; }
    data::Example get(int64_t i) const override {
        transform_();
        return {Tensor::from(std::vector<float>{static_cast<float>(i)}), i};
    }

  private:
    int64_t size_;
    std::function<void()> transform_;
};

// The mean time of a step, in milliseconds, and whether the batches came in order.
struct Epoch {
    double step_ms = 0;
    bool in_order = true;
};

Epoch measure(const std::shared_ptr<const Slow>& dataset, int workers,
              Milliseconds step) {
    data::DataLoader loader(dataset, {.num_workers = workers});
    Epoch epoch;
    int64_t expected = 0;
    const auto start = Clock::now();
    for (const data::Batch& batch : loader) {
        epoch.in_order = epoch.in_order && batch.target.item() == double(expected++);
        std::this_thread::sleep_for(step);
    }
    const Milliseconds took = Clock::now() - start;
    epoch.step_ms = took.count() / static_cast<double>(dataset->size());
    return epoch;
}

void run(const Options& options) {
    const Milliseconds fetch(options.fetch_ms), step(options.step_ms);
    const auto waiting = std::make_shared<Slow>(
        options.batches, [fetch] { std::this_thread::sleep_for(fetch); });
    const auto computing = std::make_shared<Slow>(options.batches, Computation(fetch));

    std::cout << "  workers   fetch waits   fetch computes   in order\n";
    for (const int workers : {0, 1, 2, 3, 4, 8}) {
        const Epoch one = measure(waiting, workers, step);
        const Epoch other = measure(computing, workers, step);
        std::cout << fmt::format("  {:7}   {:8.2f} ms   {:11.2f} ms   {}\n", workers,
                                 one.step_ms, other.step_ms,
                                 one.in_order && other.in_order ? "yes" : "no");
    }
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("loader_workers", [&] {
        Options options;
        CommandLine line("The time of a step against the number of workers.",
                         "loader_workers");
        training::add_count(line, "--batches", options.batches, "batches in an epoch");
        training::add_count(line, "--fetch-ms", options.fetch_ms, "to fetch a batch");
        training::add_count(line, "--step-ms", options.step_ms, "of each step");
        if (line.parse(argc, argv)) run(options);
    });
}
