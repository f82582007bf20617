#include "libmini/extras/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "libmini/core/text.hpp"
#include "libmini/extras/report/chart_text.hpp"
#include "libmini/extras/report/curves.hpp"
#include "libmini/extras/report/html.hpp"
#include "libmini/extras/report/overlap.hpp"

namespace mini::report {
namespace {

constexpr const char* kTimelineNote =
    "<p>The traced step of median length on rank 0. A mark below backward shows when the "
    "rank launches the all-reduce of a bucket.</p>\n";

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

// Returns what was run: one line for each run.
std::string heading(const std::vector<RunFolder>& runs) {
    std::string text = "<h1>Run report</h1>\n";
    for (const RunFolder& run : runs) {
        const training::RunFacts& facts = run.metrics.run;
        text +=
            fmt::format("<p><b>{}</b>: {} on {} {}, backend {}", escaped(run.name),
                        escaped(facts.program), facts.world_size,
                        facts.world_size == 1 ? "rank" : "ranks", escaped(facts.backend));
        if (!run.metrics.epochs.empty())
            text += fmt::format("; test accuracy {:.4f} after {} steps",
                                run.metrics.epochs.back().test_accuracy,
                                with_commas(run.metrics.epochs.back().steps));
        text += "</p>\n";
    }
    return text;
}

// Returns all options of the runs; open if two runs differ, with their differences first.
std::string options_table(const std::vector<RunFolder>& runs) {
    std::vector<std::string> head{"option"};
    for (const RunFolder& run : runs) head.push_back(escaped(run.name));
    std::vector<std::vector<std::string>> rows;
    std::set<std::string> names;
    std::vector<std::map<std::string, std::string>> values;
    for (const RunFolder& run : runs) {
        const auto& options = run.metrics.run.options;
        values.emplace_back(options.begin(), options.end());
        for (const auto& [name, value] : options) names.insert(name);
    }
    for (const std::string& name : names) {
        std::vector<std::string> row{"--" + escaped(name)};
        for (const auto& of_run : values)
            row.push_back(of_run.contains(name) ? escaped(of_run.at(name)) : "-");
        const bool differs = row.front() != row.back() && row[1] != row.back();
        rows.insert(differs ? rows.begin() : rows.end(), row);
    }
    return "<details><summary>Options</summary>\n" + table(head, rows) + "</details>\n";
}

// Returns how much communication each rank has hidden, and its clock.
std::string overlap_table(const RunFolder& run) {
    std::vector<std::vector<std::string>> rows;
    for (const RankTrace& rank : run.trace) {
        const Overlap mean = overlap_of(steps_of(rank));
        rows.push_back(
            {fmt::format("rank {}", rank.rank), milliseconds(mean.communication),
             milliseconds(mean.hidden), percent(mean.share()), milliseconds(mean.waiting),
             fmt::format("{:.3f}", static_cast<double>(rank.clock.error) / 1e3)});
    }
    if (rows.empty()) return "";
    return "<p>An all-reduce lasts from its start on this rank until all ranks have "
           "joined it. Means of the traced steps.</p>\n" +
           table({"", "all-reduce (ms)", "hidden under backward (ms)", "share",
                  "waiting (ms)", "clock error (us)"},
                 rows);
}

std::string bucket_table(const RunFolder& run) {
    if (run.trace.empty()) return "";
    std::vector<std::vector<std::string>> rows;
    for (const BucketRow& each : bucket_rows(steps_of(run.trace.front())))
        rows.push_back(
            {each.bucket >= 0 ? fmt::format("bucket {}", each.bucket)
                              : fmt::format("all-reduce {}", rows.size()),
             with_commas(each.bytes), milliseconds(each.begin), milliseconds(each.end),
             milliseconds(each.end - each.begin),
             percent(each.end > each.begin ? each.hidden / (each.end - each.begin)
                                           : 0.0)});
    if (rows.empty()) return "";
    return "<p>Rank 0, mean times since the start of backward.</p>\n" +
           table({"", "bytes", "begins (ms)", "ends (ms)", "takes (ms)", "hidden"}, rows);
}

// Puts the parts of two runs side by side, each with the name of its run.
template <typename Part>
std::string beside(const std::vector<RunFolder>& runs, const Part& part) {
    if (runs.size() == 1) return part(runs.front());
    std::string text;
    for (const RunFolder& run : runs) {
        const std::string body = part(run);
        if (!body.empty())
            text +=
                fmt::format("<div><p><b>{}</b></p>\n{}</div>\n", escaped(run.name), body);
    }
    return text.empty() ? "" : "<div class=\"pair\">\n" + text + "</div>\n";
}

// Returns a part of each run, one below the other.
template <typename Part>
std::string below(const std::vector<RunFolder>& runs, const Part& part) {
    std::string text;
    for (size_t i = 0; i < runs.size(); ++i) {
        const std::string body = part(runs[i], fmt::format("run{}", i));
        if (body.empty()) continue;
        if (runs.size() > 1)
            text += fmt::format("<p><b>{}</b></p>\n", escaped(runs[i].name));
        text += body;
    }
    return text;
}

}  // namespace

std::string page_of(const std::vector<RunFolder>& runs) {
    std::string body = heading(runs) + options_table(runs);
    body += section("Loss and accuracy",
                    boxed(loss_chart(runs)) + boxed(accuracy_chart(runs)));
    body += section("Step time by phase and rank", boxed(step_time_chart(runs)));
    const std::string timelines =
        below(runs, [](const RunFolder& run, const std::string& id) {
            return boxed(step_timeline(run, id));
        });
    body += section("One step", timelines.empty() ? "" : kTimelineNote + timelines);
    body += section("Communication hidden under backward", beside(runs, overlap_table));
    body += section("Buckets", beside(runs, bucket_table));
    const std::string title = runs.size() == 1
                                  ? runs.front().name
                                  : runs.front().name + " and " + runs.back().name;
    return page("Run report: " + title, body);
}

}  // namespace mini::report
