#include "libmini/extras/report/page.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/extras/report/chart_canvas.hpp"
#include "libmini/extras/report/curves.hpp"

namespace mini::report {
namespace {

constexpr const char* kPageStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --page: #ffffff;
        --line: #d9dfe7; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #a2adbb; --page: #14181f; --line: #333c49; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--ink);
       background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p { color: var(--soft); margin: .3rem 0; }
.wide { overflow-x: auto; }
.wide > svg { display: block; width: 100%; min-width: 36rem; max-width: 48rem;
              height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
th { font-weight: 600; color: var(--soft); white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
summary { cursor: pointer; color: var(--soft); }
)";

constexpr const char* kTimelineNote =
    "<p>The traced step of median length on rank 0. A mark below backward shows when the "
    "rank launches the all-reduce of a bucket.</p>\n";

// Returns a chart or a table that scrolls if the page is narrower; the keyboard scrolls it.
std::string boxed(const std::string& content) {
    if (content.empty()) return "";
    return "<div class=\"wide\" tabindex=\"0\">" + content + "</div>\n";
}

// Returns a section with a heading; "" if the body is empty.
std::string section(const std::string& heading, const std::string& body) {
    if (body.empty()) return "";
    return concat("<section>\n<h2>", heading, "</h2>\n", body, "</section>\n");
}

std::string row_of(const char* tag, const std::vector<std::string>& cells) {
    std::string text = "<tr>";
    for (const std::string& cell : cells)
        text += concat("<", tag, ">", escaped(cell), "</", tag, ">");
    return text + "</tr>\n";
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<table>\n" + row_of("th", head);
    for (const auto& row : rows) text += row_of("td", row);
    return boxed(text + "</table>");
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }

// Returns what was run.
std::string heading(const RunRecord& run) {
    const training::RunFacts& facts = run.metrics.run;
    std::string text =
        fmt::format("<h1>Run report</h1>\n<p><b>{}</b>: {} on {} {}, backend {}",
                    escaped(run.name), escaped(facts.program), facts.world_size,
                    facts.world_size == 1 ? "rank" : "ranks", escaped(facts.backend));
    if (!run.metrics.epochs.empty())
        text += fmt::format("; test accuracy {:.4f} after {} steps",
                            run.metrics.epochs.back().test_accuracy,
                            with_commas(run.metrics.epochs.back().steps));
    return text + "</p>\n";
}

std::string options_table(const training::RunFacts& run) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : run.options) rows.push_back({"--" + name, value});
    return concat("<details><summary>Options</summary>\n",
                  table({"option", "value"}, rows), "</details>\n");
}

// Returns how much communication each rank has hidden.
std::string overlap_table(const RunRecord& run) {
    std::vector<std::vector<std::string>> rows;
    for (const RankTrace& rank : run.trace) {
        const Overlap mean = overlap_of(steps_of(rank));
        rows.push_back({fmt::format("rank {}", rank.rank),
                        milliseconds(mean.communication), milliseconds(mean.hidden),
                        percent(mean.share()), milliseconds(mean.waiting)});
    }
    if (rows.empty()) return "";
    return "<p>An all-reduce lasts from its start on this rank until all ranks have "
           "joined it. Means of the traced steps.</p>\n" +
           table({"", "all-reduce (ms)", "hidden under backward (ms)", "share",
                  "waiting (ms)"},
                 rows);
}

}  // namespace

std::string run_name(const std::string& folder) {
    auto path = std::filesystem::absolute(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();  // of "runs/first/"
    return path.filename().string();
}

std::string page_of(const RunRecord& run) {
    std::string body = heading(run) + options_table(run.metrics.run);
    body += section("Loss and accuracy",
                    boxed(loss_chart(run.metrics)) + boxed(accuracy_chart(run.metrics)));
    body += section("Step time by phase and rank", boxed(step_time_chart(run.metrics)));
    const std::string timeline = step_timeline(run.trace);
    body += section("One step", timeline.empty() ? "" : kTimelineNote + boxed(timeline));
    body += section("Communication hidden under backward", overlap_table(run));
    return concat(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>Run report: ",
        escaped(run.name), "</title>\n<style>", kPageStyle,
        "</style>\n</head>\n<body>\n<main>\n", body, "</main>\n</body>\n</html>\n");
}

}  // namespace mini::report
