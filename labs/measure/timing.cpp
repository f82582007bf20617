#include "labs/measure/timing.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace mini {
namespace {

constexpr int kBatches = 9;
constexpr double kMaxRuns = 1e6;

double seconds_of(int runs, const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) work();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return time.count() / runs;
}

}  // namespace

double seconds_each(double seconds, const std::function<void()>& work) {
    std::vector<double> times{seconds_of(1, work)};
    const double once = std::max(times.front(), 1e-9);
    const double runs = std::clamp(seconds / kBatches / once, 1.0, kMaxRuns);
    double left = seconds - once;
    for (int i = 1; i < kBatches && left >= runs * once; ++i) {
        times.push_back(seconds_of(static_cast<int>(runs), work));
        left -= runs * times.back();
    }
    std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
    return times[times.size() / 2];
}

}  // namespace mini
