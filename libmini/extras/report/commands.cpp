#include "libmini/extras/report/commands.hpp"

#include <fmt/core.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/page.hpp"
#include "libmini/extras/report/plot_spec.hpp"
#include "libmini/extras/report/run_folder.hpp"
#include "libmini/io/file.hpp"

namespace mini::report {
namespace {

// The options of both commands.
struct Inputs {
    std::vector<std::string> paths;
    std::string output;
};

void write_report(const Inputs& options) {
    if (options.paths.size() > 2)
        throw UsageError(concat("report: one or two runs, not ", options.paths.size()));
    std::vector<RunFolder> runs;
    for (const std::string& folder : options.paths) runs.push_back(read_run(folder));
    const char* const name = runs.size() == 1 ? "report.html" : "compare.html";
    const std::string path =
        options.output.empty() ? options.paths.back() + "/" + name : options.output;
    io::write_file(path, page_of(runs));
    fmt::print("{}\n", path);
}

std::string contents_of(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    const io::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void write_chart(const Inputs& options) {
    const std::string& path = options.paths.front();
    const std::string name = path == "-" ? "stdin" : path;
    const Chart chart = parse_chart(contents_of(path), name);
    std::string svg;
    try {
        svg = svg_of(chart);
    } catch (const UsageError& error) {
        throw BadFile(fmt::format("{}: {}", name, error.what()));
    }
    if (options.output == "-")
        fmt::print("{}", svg);
    else
        io::write_file(options.output, svg);
}

}  // namespace

void add_commands(Command& mini) {
    Command report = mini.add_command(
        "report", "Writes the page of a run (train_mnist --logdir), or of two runs");
    const auto runs = std::make_shared<Inputs>();
    report.add("RUN", runs->paths, "One or two folders of runs")
        .type_name("DIR")
        .required();
    report
        .add("--output", runs->output,
             "The page; by default report.html in RUN, or compare.html in the second "
             "RUN")
        .type_name("FILE");
    report.on_parsed([runs] { write_report(*runs); });

    Command plot = mini.add_command(
        "plot", "Draws a chart as SVG from its description in JSON (docs/pages/plot.md)");
    const auto chart = std::make_shared<Inputs>();
    chart->paths.resize(1);
    plot.add("SPEC", chart->paths.front(), "The chart in JSON; -: stdin").required();
    plot.add("--out", chart->output, "The SVG file to write; -: stdout")
        .type_name("FILE")
        .required();
    plot.on_parsed([chart] { write_chart(*chart); });
}

}  // namespace mini::report
