#include "libmini/tools/mini/inspect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::tools {
namespace {

using nlohmann::ordered_json;

constexpr size_t kColumns = 9;
constexpr size_t kLeftAligned = 3;  // name, dtype and shape
using Row = std::array<std::string, kColumns>;

template <typename T>
NumberSummary summary_of(const Tensor& tensor) {
    NumberSummary summary;
    double sum = 0.0;
    for (const T element : tensor.span<T>()) {
        double x = 0.0;
        if constexpr (sizeof(T) == 2)
            x = static_cast<float>(element);
        else
            x = static_cast<double>(element);
        summary.nans += std::isnan(x);
        summary.infinities += std::isinf(x);
        if (!std::isfinite(x)) continue;

        summary.min = summary.finite == 0 ? x : std::min(summary.min, x);
        summary.max = summary.finite == 0 ? x : std::max(summary.max, x);
        ++summary.finite;
        sum += x;
    }
    if (summary.finite > 0) summary.mean = sum / static_cast<double>(summary.finite);
    return summary;
}

// Escapes control characters in text from a file, so that it can be printed on a
// terminal.
std::string plain(const std::string& text) {
    const std::string quoted = ordered_json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

std::string number(const NumberSummary& summary, double value) {
    return summary.finite > 0 ? fmt::format("{:.4g}", value) : "-";
}

Row row_of(const std::string& name, const Tensor& tensor) {
    const NumberSummary summary = summarise(tensor);
    return {plain(name),
            dtype_name(tensor.dtype()),
            concat(tensor.shape()),
            with_commas(static_cast<int64_t>(tensor.bytes())),
            number(summary, summary.min),
            number(summary, summary.mean),
            number(summary, summary.max),
            with_commas(summary.nans),
            with_commas(summary.infinities)};
}

std::string aligned(const std::vector<Row>& rows) {
    std::array<size_t, kColumns> widths = {};
    for (const Row& row : rows)
        for (size_t k = 0; k < kColumns; ++k)
            widths[k] = std::max(widths[k], row[k].size());

    std::string text;
    for (const Row& row : rows) {
        for (size_t k = 0; k < kColumns; ++k) {
            const std::string blanks(widths[k] - row[k].size(), ' ');
            text += k == 0 ? "" : "   ";
            text += k < kLeftAligned ? concat(row[k], blanks) : concat(blanks, row[k]);
        }
        text += "\n";
    }
    return text;
}

int64_t total_bytes(const io::Safetensors& file) {
    int64_t bytes = 0;
    for (const auto& [name, tensor] : file.tensors)
        bytes += static_cast<int64_t>(tensor.bytes());
    return bytes;
}

int64_t total_numbers(const io::Safetensors& file) {
    int64_t numbers = 0;
    for (const auto& [name, tensor] : file.tensors) numbers += tensor.numel();
    return numbers;
}

ordered_json tensor_json(const std::string& name, const Tensor& tensor) {
    const NumberSummary summary = summarise(tensor);
    const auto known = [&](double value) {
        return summary.finite > 0 ? ordered_json(value) : ordered_json();
    };
    return {{"name", name},
            {"dtype", dtype_name(tensor.dtype())},
            {"shape", tensor.shape()},
            {"bytes", tensor.bytes()},
            {"min", known(summary.min)},
            {"mean", known(summary.mean)},
            {"max", known(summary.max)},
            {"nan", summary.nans},
            {"inf", summary.infinities}};
}

}  // namespace

NumberSummary summarise(const Tensor& tensor) {
    switch (tensor.dtype()) {
        case DType::kFloat32: return summary_of<float>(tensor);
        case DType::kInt64: return summary_of<int64_t>(tensor);
        case DType::kUInt8: return summary_of<uint8_t>(tensor);
        case DType::kFloat16: return summary_of<Half>(tensor);
        case DType::kBFloat16: return summary_of<BFloat16>(tensor);
    }
    throw Error(concat("mini inspect: cannot read ", tensor.dtype()));
}

std::string inspect_table(const io::Safetensors& file) {
    std::vector<Row> rows = {
        {"name", "dtype", "shape", "bytes", "min", "mean", "max", "NaN", "Inf"}};
    for (const auto& [name, tensor] : file.tensors) rows.push_back(row_of(name, tensor));
    std::string text = file.tensors.empty() ? "" : concat(aligned(rows), "\n");

    for (const auto& [key, value] : file.metadata)
        text += fmt::format("{} = {}\n", plain(key), plain(value));
    if (!file.metadata.empty()) text += "\n";
    return concat(text, with_commas(std::ssize(file.tensors)), " tensors, ",
                  with_commas(total_numbers(file)), " numbers, ",
                  with_commas(total_bytes(file)), " bytes\n");
}

std::string inspect_json(const io::Safetensors& file) {
    auto tensors = ordered_json::array();
    for (const auto& [name, tensor] : file.tensors)
        tensors.push_back(tensor_json(name, tensor));
    const ordered_json json = {{"tensors", tensors},
                               {"metadata", file.metadata},
                               {"numbers", total_numbers(file)},
                               {"bytes", total_bytes(file)}};
    return json.dump() + "\n";
}

void add_inspect(Command& mini) {
    struct Options {
        std::string path;
        std::string format = "table";
    };
    Command inspect = mini.add_command("inspect", "Shows what is in a safetensors file");
    auto options = std::make_shared<Options>();
    inspect.add("FILE", options->path, "A model or a checkpoint").required();
    inspect.add("--format", options->format, "table, or json").one_of({"table", "json"});
    inspect.on_parsed([options] {
        const io::Safetensors file = io::load_safetensors(options->path);
        fmt::print("{}",
                   options->format == "json" ? inspect_json(file) : inspect_table(file));
    });
}

}  // namespace mini::tools
