// hook_overlap: the measurement of lab 15. Shows when each gradient of the ConvNet is
// ready, sent and averaged.
//
//     minirun -n 2 hook_overlap --wrapper overlap
//     MINI_LINK=100Mbit,0.3ms minirun -n 2 hook_overlap --wrapper flat --json
//
// Runs forward and backward on random images. The times are in milliseconds, medians over
// the steps, from the event log of rank 0. measure.py runs this program on links of
// several rates.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/extras/use_all.hpp"
#include "libmini/nn/models.hpp"
#include "libmini/parallel/averaging_modules.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

struct Options {
    std::string wrapper = "overlap";  // or none, average, flat
    int64_t steps = 20;
    int64_t batch_size = 256;  // of each rank
    bool json = false;
};

using Clock = std::chrono::steady_clock;

// The times of one gradient's all-reduce in each step, in ms since the end of forward.
struct GradientTimes {
    int64_t bytes = 0;
    std::vector<double> launched, begun, ended;
};

struct Times {
    std::vector<double> step;      // forward, backward and all averages
    std::vector<double> backward;  // from the end of forward to the last gradient
    std::map<int64_t, GradientTimes> gradients;  // by parameter; of OverlappedModule only
};

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

double ms(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

// Adds the times of one step to `times`; `log` holds the events of this step only.
void read_step(const std::vector<Event>& log, Times& times) {
    int64_t start = 0;
    std::vector<GradientTimes*> launched;  // the all-reduces run in launch order
    size_t begun = 0, ended = 0;
    for (const Event& event : log) {
        const double now = ms(event.nanoseconds - start);
        if (event.kind == EventKind::kForwardEnd) {
            start = event.nanoseconds;
        } else if (event.kind == EventKind::kBackwardEnd) {
            times.backward.push_back(now);
        } else if (event.kind == EventKind::kBucketLaunch) {
            launched.push_back(&times.gradients[event.index]);
            launched.back()->bytes = event.bytes;
            launched.back()->launched.push_back(now);
        } else if (event.kind == EventKind::kCollectiveBegin && begun < launched.size()) {
            launched[begun++]->begun.push_back(now);
        } else if (event.kind == EventKind::kCollectiveEnd && ended < launched.size()) {
            launched[ended++]->ended.push_back(now);
        }
    }
}

std::unique_ptr<parallel::ReplicatedModule> wrap(const std::string& wrapper,
                                                 nn::Module& model) {
    if (wrapper == "average") return std::make_unique<parallel::AveragedModule>(model);
    if (wrapper == "flat") return std::make_unique<parallel::FlatModule>(model);
    return std::make_unique<parallel::OverlappedModule>(model);
}

// Runs the ConvNet on one batch of random images; the first steps are not measured.
Times train(const Options& options, dist::ProcessGroup& group) {
    constexpr int64_t kWarmUp = 3;
    manual_seed(1);
    nn::ConvNet model({.dropout = false});
    const auto replicated = wrap(options.wrapper, model);
    Tensor images = Tensor::empty({options.batch_size, 1, 28, 28});
    Generator generator(static_cast<uint64_t>(group.rank()));
    fill_uniform(images.span<float>(), -1.0, 1.0, generator);
    const Tensor labels = Tensor::zeros({options.batch_size}, DType::kInt64);

    Times times;
    for (int64_t step = 0; step < kWarmUp + options.steps; ++step) {
        model.zero_grad();
        group.barrier();  // each step begins at the same time on all ranks
        group.events().clear();
        const auto start = Clock::now();
        const auto pass = [&] {
            cross_entropy((*replicated)(images), labels).backward();
        };
        if (options.wrapper == "none") {
            const auto no_sync = replicated->no_sync();
            pass();
        } else {
            pass();
        }
        const std::chrono::nanoseconds took = Clock::now() - start;
        if (step < kWarmUp) continue;
        times.step.push_back(ms(took.count()));
        read_step(group.events().snapshot(), times);
    }
    return times;
}

nlohmann::ordered_json report_of(const Times& times, const nn::NamedTensors& names) {
    nlohmann::ordered_json gradients = nlohmann::ordered_json::array();
    for (const auto& [index, all] : times.gradients)
        gradients.push_back({{"name", names[static_cast<size_t>(index)].first},
                             {"bytes", all.bytes},
                             {"launched_ms", median(all.launched)},
                             {"begun_ms", median(all.begun)},
                             {"ended_ms", median(all.ended)}});
    return {{"step_ms", median(times.step)},
            {"backward_ms", median(times.backward)},
            {"gradients", gradients}};
}

void print(const nlohmann::ordered_json& report) {
    std::cout << fmt::format("a step {:.2f} ms, backward {:.2f} ms\n",
                             report["step_ms"].get<double>(),
                             report["backward_ms"].get<double>());
    for (const auto& gradient : report["gradients"])
        std::cout << fmt::format(
            "{:<14}{:>7} bytes   launched {:6.2f}   sent {:6.2f} to "
            "{:6.2f}\n",
            gradient["name"].get<std::string>(), gradient["bytes"].get<int64_t>(),
            gradient["launched_ms"].get<double>(), gradient["begun_ms"].get<double>(),
            gradient["ended_ms"].get<double>());
}

bool parse_options(int argc, char** argv, Options& options) {
    CommandLine line("Shows when each gradient of the ConvNet is ready and averaged.",
                     "hook_overlap");
    line.add("--wrapper", options.wrapper, "how gradients are averaged")
        .one_of({"none", "average", "flat", "overlap"});
    training::add_count(line, "--steps", options.steps, "steps to measure");
    training::add_count(line, "--batch-size", options.batch_size, "images of each rank");
    line.add_flag("--json", options.json, "print the times as one line of JSON");
    return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("hook_overlap", [&] {
        extras::use_all();
        Options options;
        if (!parse_options(argc, argv, options)) return;
        const auto group = training::join_group();
        const Times times = train(options, *group);
        if (group->rank() == 0) {
            const nn::ConvNet names;
            const auto report = report_of(times, names.named_parameters());
            if (options.json)
                std::cout << report.dump() << std::endl;
            else
                print(report);
        }
        dist::destroy_process_group();
    });
}
