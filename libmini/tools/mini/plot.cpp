#include "libmini/tools/mini/plot.hpp"

#include <fmt/core.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/io/chart.hpp"
#include "libmini/io/file.hpp"
#include "libmini/tools/mini/plot_spec.hpp"

namespace mini::tools {
namespace {

struct PlotOptions {
    std::string path;
    std::string out;
};

std::string contents_of(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    const io::InputFile file(path);
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

void run(const PlotOptions& options) {
    const std::string name = options.path == "-" ? "stdin" : options.path;
    const io::Chart chart = parse_chart(contents_of(options.path), name);
    std::string svg;
    try {
        svg = io::svg_of(chart);
    } catch (const UsageError& error) {
        throw BadFile(fmt::format("{}: {}", name, error.what()));
    }
    if (options.out == "-") {
        fmt::print("{}", svg);
        return;
    }
    io::write_file(options.out, svg);
}

}  // namespace

void add_plot(Command& mini) {
    Command plot = mini.add_command(
        "plot", "Draws a chart as SVG from its description in JSON (docs/pages/plot.md)");
    const auto options = std::make_shared<PlotOptions>();
    plot.add("SPEC", options->path, "The chart in JSON; -: stdin").required();
    plot.add("--out", options->out, "The SVG file to write; -: stdout")
        .type_name("FILE")
        .required();
    plot.on_parsed([options] { run(*options); });
}

}  // namespace mini::tools
