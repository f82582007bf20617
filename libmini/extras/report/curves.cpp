#include "libmini/extras/report/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "libmini/extras/report/chart.hpp"

namespace mini::report {
namespace {

constexpr size_t kPoints = 200;

// Returns the mean loss of the ranks at each step. NaN and infinity are left out: they
// have no place on an axis.
std::vector<ChartPoint> losses_of(const Metrics& metrics) {
    std::vector<ChartPoint> points;
    std::vector<double> counts;
    for (const StepRow& row : metrics.steps) {
        if (!std::isfinite(row.loss)) continue;
        const auto step = static_cast<double>(row.step);
        if (points.empty() || points.back().x != step) {
            points.push_back({.x = step});
            counts.push_back(0.0);
        }
        points.back().y += row.loss;
        ++counts.back();
    }
    for (size_t i = 0; i < points.size(); ++i) points[i].y /= counts[i];
    return points;
}

// Returns at most kPoints points: the means of equal groups.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points) {
    const size_t group = (points.size() + kPoints - 1) / kPoints;
    std::vector<ChartPoint> means;
    for (size_t begin = 0; begin < points.size(); begin += group) {
        const size_t end = std::min(begin + group, points.size());
        ChartPoint mean;
        for (size_t i = begin; i < end; ++i) {
            mean.x += points[i].x / static_cast<double>(end - begin);
            mean.y += points[i].y / static_cast<double>(end - begin);
        }
        means.push_back(mean);
    }
    return means;
}

std::vector<ChartPoint> accuracies_of(const Metrics& metrics) {
    std::vector<ChartPoint> points;
    for (const training::EpochFacts& row : metrics.epochs)
        points.push_back(
            {.x = static_cast<double>(row.epoch + 1), .y = row.test_accuracy});
    return points;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

// Returns the median of a phase over the steps of a rank, in milliseconds.
double median_of(const Metrics& metrics, int rank, double StepTimes::*phase) {
    std::vector<double> values;
    for (const StepRow& row : metrics.steps)
        if (row.rank == rank) values.push_back(1e3 * (row.times.*phase));
    return median(std::move(values));
}

// Returns the number of the step of median length on rank 0 among those that all ranks
// have traced.
std::optional<int64_t> median_step(const std::vector<std::vector<TracedStep>>& ranks) {
    std::vector<std::pair<int64_t, int64_t>> steps;  // length and number
    for (const TracedStep& step : ranks.front()) {
        const auto is_same = [&](const TracedStep& other) {
            return other.step.step == step.step.step;
        };
        if (std::ranges::all_of(ranks, [&](const std::vector<TracedStep>& rank) {
                return std::ranges::any_of(rank, is_same);
            }))
            steps.emplace_back(step.step.end - step.step.begin, step.step.step);
    }
    if (steps.empty()) return std::nullopt;
    std::ranges::sort(steps);
    return steps[steps.size() / 2].second;
}

// Returns a span from nanoseconds since the origin of the chart.
ChartSpan span_of(const std::string& name, int64_t begin, int64_t end) {
    return {.name = name,
            .start = static_cast<double>(begin) / 1e6,
            .end = static_cast<double>(end) / 1e6};
}

// Adds what a rank computes, with the launches of buckets below, and its communication.
void add_rank(RowChart& chart, int rank, const TracedStep& step, int64_t origin) {
    ChartRow compute, launches, communication;
    for (const Slice& part : step.parts)
        compute.spans.push_back(
            span_of(part.name, part.begin - origin, part.end - origin));
    for (const Moment& launch : step.launches)
        launches.spans.push_back(span_of(fmt::format("bucket {}", launch.bucket),
                                         launch.time - origin, launch.time - origin));
    for (const Slice& slice : step.all_reduces)
        communication.spans.push_back(span_of(
            slice.bucket >= 0 ? fmt::format("bucket {}", slice.bucket) : "all-reduce",
            slice.begin - origin, slice.end - origin));
    chart.groups.push_back({fmt::format("rank {} compute", rank), {compute, launches}});
    chart.groups.push_back({fmt::format("rank {} communication", rank), {communication}});
}

}  // namespace

std::string loss_chart(const Metrics& metrics) {
    LineChart chart{.text = {.title = "Training loss, mean of the ranks", .id = "loss"},
                    .x = {.label = "step", .is_whole = true},
                    .y = {.label = "loss", .from_zero = true},
                    .series = {{"loss", thinned(losses_of(metrics))}}};
    return chart.series.front().points.empty() ? "" : svg_of(chart);
}

std::string accuracy_chart(const Metrics& metrics) {
    LineChart chart{.text = {.title = "Test accuracy", .id = "accuracy"},
                    .x = {.label = "epoch", .is_whole = true},
                    .y = {.label = "share of correct images"},
                    .series = {{"accuracy", accuracies_of(metrics)}}};
    const auto& points = chart.series.front().points;
    if (points.empty()) return "";

    // The axis of a single value would end above it, but no share is above 1.
    chart.y.from_zero = std::ranges::all_of(
        points, [&](const ChartPoint& point) { return point.y == points.front().y; });
    return svg_of(chart);
}

std::string step_time_chart(const Metrics& metrics) {
    if (metrics.steps.empty()) return "";
    RowChart chart{.text = {.title = "Median time of a step", .id = "steps"},
                   .axis = {.label = "ms"}};
    for (int rank = 0; rank < metrics.run.world_size; ++rank) {
        ChartRow row;
        double end = 0;
        for (const auto& [name, phase] : kStepParts) {
            if (phase == &StepTimes::step) continue;  // the whole
            const double start = end;
            end += median_of(metrics, rank, phase);
            if (end > start) row.spans.push_back({name, start, end});
        }
        chart.groups.push_back({fmt::format("rank {}", rank), {row}});
    }
    const auto has_no_time = [](const RowGroup& rank) {
        return rank.rows.front().spans.empty();
    };
    return std::ranges::all_of(chart.groups, has_no_time) ? "" : svg_of(chart);
}

std::string step_timeline(const std::vector<RankTrace>& traces) {
    if (traces.empty()) return "";
    std::vector<std::vector<TracedStep>> ranks;
    for (const RankTrace& rank : traces) ranks.push_back(steps_of(rank));
    const auto number = median_step(ranks);
    if (!number) return "";
    std::vector<TracedStep> steps;  // by rank
    for (const auto& rank : ranks)
        steps.push_back(*std::ranges::find_if(
            rank, [&](const TracedStep& each) { return each.step.step == *number; }));

    const int64_t origin =
        std::ranges::min_element(steps, {}, [](const TracedStep& each) {
            return each.step.begin;
        })->step.begin;
    RowChart chart{.text = {.title = fmt::format("Step {}", *number), .id = "timeline"},
                   .axis = {.label = "ms"}};
    for (size_t rank = 0; rank < steps.size(); ++rank)
        add_rank(chart, traces[rank].rank, steps[rank], origin);
    return svg_of(chart);
}

}  // namespace mini::report
