#include "libmini/tools/mini/fault_tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

using dist::ProcessEnd;
using dist::seconds_of;

constexpr double kFirstTime = 1e-6;  // the end of the first class, in seconds
constexpr double kClassesPerOctave = 4;

size_t class_of(double seconds) {
    if (seconds <= kFirstTime) return 0;
    const double place = std::ceil(kClassesPerOctave * std::log2(seconds / kFirstTime));
    return std::min(static_cast<size_t>(place), FaultCounts::kClasses - 1);
}

double end_of_class(size_t place) {
    return kFirstTime * std::exp2(static_cast<double>(place) / kClassesPerOctave);
}

// Returns the time, in seconds, by which `share` (0 to 1) of the throwing ranks had
// thrown.
double time_of_share(const FaultCounts& counts, double share) {
    uint64_t thrown = 0;
    for (size_t place = 0; place < FaultCounts::kClasses; ++place) {
        thrown += counts.times[place];
        if (static_cast<double>(thrown) >= share * static_cast<double>(counts.threw))
            return end_of_class(place);
    }
    return end_of_class(FaultCounts::kClasses - 1);
}

std::string time_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    return fmt::format("{:.3g} s", seconds);
}

void add_counts(FaultCounts& sum, const FaultCounts& more) {
    sum.jobs += more.jobs;
    sum.met += more.met;
    sum.threw += more.threw;
    sum.exceptions += more.exceptions;
    sum.wrong += more.wrong;
    for (size_t place = 0; place < FaultCounts::kClasses; ++place)
        sum.times[place] += more.times[place];
}

const char* name_of(size_t fault) { return fault_name(static_cast<Fault>(fault)); }

}  // namespace

void FaultTally::add(const FaultPlan& plan, const FaultResult& result) {
    FaultCounts& counts = of_fault[static_cast<size_t>(plan.fault)];
    ++counts.jobs;
    counts.met += result.happened && plan.fault != Fault::kNone;
    counts.exceptions += static_cast<uint64_t>(result.exceptions);
    for (size_t rank = 0; rank < result.ends.size(); ++rank) {
        const ProcessEnd& end = result.ends[rank];
        if (end.how != ProcessEnd::How::kThrew || static_cast<int>(rank) == plan.victim)
            continue;
        ++counts.threw;
        ++counts.times[class_of(seconds_of(end.time - result.when))];
    }
    if (result.error.empty()) return;
    if (sum().wrong == 0) first_wrong = plan.seed;
    ++counts.wrong;
}

void FaultTally::add(const FaultTally& other) {
    const bool is_first =
        sum().wrong == 0 || (other.sum().wrong > 0 && other.first_wrong < first_wrong);
    if (is_first) first_wrong = other.first_wrong;
    for (size_t fault = 0; fault < kFaultCount; ++fault)
        add_counts(of_fault[fault], other.of_fault[fault]);
}

FaultCounts FaultTally::sum() const {
    FaultCounts all;
    for (const FaultCounts& counts : of_fault) add_counts(all, counts);
    return all;
}

std::string table_of(const FaultTally& tally) {
    std::string table =
        fmt::format("{:<12}{:>9}{:>9}{:>13}{:>11}{:>11}{:>12}{:>7}\n", "fault", "jobs",
                    "met", "ranks threw", "half by", "all by", "other rank", "wrong");
    for (size_t fault = 0; fault < kFaultCount; ++fault) {
        const FaultCounts& counts = tally.of_fault[fault];
        if (counts.jobs == 0) continue;
        const auto time = [&](double share) {
            return counts.threw == 0 ? "-" : time_text(time_of_share(counts, share));
        };
        table += fmt::format("{:<12}{:>9}{:>9}{:>13}{:>11}{:>11}{:>12}{:>7}\n",
                             name_of(fault), counts.jobs, counts.met, counts.threw,
                             time(0.5), time(1), counts.exceptions, counts.wrong);
    }
    return table;
}

nlohmann::json json_of(const FaultTally& tally) {
    nlohmann::json rows = nlohmann::json::array();
    for (size_t fault = 0; fault < kFaultCount; ++fault) {
        const FaultCounts& counts = tally.of_fault[fault];
        nlohmann::json times = nlohmann::json::array();
        for (size_t place = 0; place < FaultCounts::kClasses; ++place)
            if (counts.times[place] > 0)
                times.push_back(
                    {{"seconds", end_of_class(place)}, {"ranks", counts.times[place]}});
        rows.push_back({{"fault", name_of(fault)},
                        {"jobs", counts.jobs},
                        {"met", counts.met},
                        {"threw", counts.threw},
                        {"exceptions", counts.exceptions},
                        {"wrong", counts.wrong},
                        {"times", times}});
    }
    return rows;
}

io::LineChart chart_of(const FaultTally& tally) {
    io::LineChart chart;
    chart.text.title = "How long after a fault its survivors have thrown";
    chart.x = {.label = "virtual time since the fault (s)", .is_log = true};
    chart.y = {.label = "ranks (%)", .from_zero = true};
    for (size_t fault = 0; fault <= static_cast<size_t>(Fault::kPartition); ++fault) {
        const FaultCounts& counts = tally.of_fault[fault];
        io::ChartSeries line{.name = name_of(fault)};
        uint64_t thrown = 0;
        for (size_t place = 0; place < FaultCounts::kClasses; ++place) {
            if (counts.times[place] == 0) continue;
            thrown += counts.times[place];
            line.points.push_back({.x = end_of_class(place),
                                   .y = 100.0 * static_cast<double>(thrown) /
                                        static_cast<double>(counts.threw)});
        }
        if (!line.points.empty()) chart.series.push_back(std::move(line));
    }
    return chart;
}

}  // namespace mini::tools
