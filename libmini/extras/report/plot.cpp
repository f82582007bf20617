#include "libmini/extras/report/plot.hpp"

#include <fmt/core.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart.hpp"
#include "libmini/extras/report/plot_spec.hpp"
#include "libmini/io/file.hpp"

namespace mini::report {
namespace {

struct Options {
    std::string spec, output;
};

std::string contents_of(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    const io::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void write_chart(const Options& options) {
    const std::string name = options.spec == "-" ? "stdin" : options.spec;
    const Chart chart = parse_chart(contents_of(options.spec), name);
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

void add_plot(Command& mini) {
    Command plot = mini.add_command(
        "plot", "Draws a chart as SVG from its description in JSON (docs/pages/plot.md)");
    const auto chart = std::make_shared<Options>();
    plot.add("SPEC", chart->spec, "The chart in JSON; -: stdin").required();
    plot.add("--out", chart->output, "The SVG file to write; -: stdout")
        .type_name("FILE")
        .required();
    plot.on_parsed([chart] { write_chart(*chart); });
}

}  // namespace mini::report
