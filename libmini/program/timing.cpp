#include "libmini/program/timing.hpp"

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

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
}

}  // namespace

double seconds_each(double seconds, const std::function<void()>& work) {
    const double once = std::max(seconds_of(1, work), 1e-9);
    if (once * kBatches > seconds) {
        std::vector<double> times{once};
        double left = seconds - once;
        while (left >= once) {
            times.push_back(seconds_of(1, work));
            left -= times.back();
        }
        return median(times);
    }
    const int runs = static_cast<int>(std::min(kMaxRuns, seconds / kBatches / once));
    std::vector<double> times;
    for (int i = 0; i < kBatches; ++i) times.push_back(seconds_of(runs, work));
    return median(times);
}

}  // namespace mini
