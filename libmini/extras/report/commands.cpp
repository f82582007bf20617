#include "libmini/extras/report/report.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/metrics.hpp"
#include "libmini/extras/report/page.hpp"
#include "libmini/extras/report/plot_spec.hpp"
#include "libmini/extras/report/trace.hpp"
#include "libmini/io/file.hpp"

namespace mini::report {
namespace {

std::string contents_of(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    const io::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void write_chart(const std::string& spec, const std::string& out) {
    const std::string svg = draw_chart(contents_of(spec), spec == "-" ? "stdin" : spec);
    if (out == "-")
        fmt::print("{}", svg);
    else
        io::write_file(out, svg);
}

// Writes the page that the run writes at the end of each epoch: of a run that was killed
// before, it has the steps of rank 0 so far.
void write_page(const std::string& folder) {
    RunRecord run{.name = run_name(folder), .metrics = read_metrics(folder)};
    const std::string trace = folder + "/trace.json";
    if (std::filesystem::exists(trace)) {
        try {
            run.trace = read_trace(contents_of(trace));
        } catch (const BadFile& error) {
            throw BadFile(concat(trace, ": ", error.what()));
        }
    }
    const std::string page = folder + "/report.html";
    io::write_file(page, page_of(run));
    fmt::print("{}\n", page);
}

}  // namespace

void add_commands(Command& mini) {
    Command plot = mini.add_command(
        "plot", "Draws a chart as SVG from its description in JSON (docs/pages/plot.md)");
    const auto spec = std::make_shared<std::string>(),
               out = std::make_shared<std::string>();
    plot.add("SPEC", *spec, "The chart in JSON; -: stdin").required();
    plot.add("--out", *out, "The SVG file to write; -: stdout")
        .type_name("FILE")
        .required();
    plot.on_parsed([spec, out] { write_chart(*spec, *out); });

    Command report = mini.add_command(
        "report", "Writes the page of a run again (docs/pages/run_report.md)");
    const auto folder = std::make_shared<std::string>();
    report.add("RUN", *folder, "The folder of a run: train_mnist --logdir")
        .type_name("DIR")
        .required();
    report.on_parsed([folder] { write_page(*folder); });
}

}  // namespace mini::report
