// mini inspect: lists the tensors of a safetensors file, and counts NaN and infinite
// values.
//
//     name      dtype     shape    bytes       min       mean      max   NaN  Inf
//     fc.bias   float32   (10,)       40   -0.1391   0.002113   0.1267     0    0

#include "libmini/tools/mini/commands.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/program/table.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {
namespace {

constexpr size_t kLeftAligned = 3;  // name, dtype and shape
using Row = std::vector<std::string>;

// Statistics of one tensor. `min`, `mean` and `max` are those of the finite values.
struct NumberSummary {
    int64_t finite = 0;
    int64_t nans = 0;
    int64_t infinities = 0;
    double min = 0.0;
    double mean = 0.0;
    double max = 0.0;

    // The exact minimum and maximum of integers: a double has 53 bits.
    struct Integers {
        int64_t min = 0, max = 0;
    };
    std::optional<Integers> integers;
};

template <typename T>
NumberSummary summary_of(const Tensor& tensor) {
    NumberSummary summary;
    if constexpr (std::is_integral_v<T>) {
        const auto [min, max] = std::ranges::minmax_element(tensor.span<T>());
        if (tensor.numel() > 0) summary.integers = {.min = *min, .max = *max};
    }
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

// Escapes control characters in text from a file, so that it can be printed on a
// terminal.
std::string plain(const std::string& text) {
    const std::string quoted = nlohmann::json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

// Returns the statistics of an entry; std::nullopt for a type that libmini does not have.
std::optional<NumberSummary> summary_of(const io::SafetensorsFile& file,
                                        const io::SafetensorsEntry& entry) {
    if (!io::find_dtype(entry.type)) return std::nullopt;
    return summarise(file.read(entry));
}

// Returns libmini's name of a type, or else that of the file.
std::string type_of(const io::SafetensorsEntry& entry) {
    const std::optional<DType> dtype = io::find_dtype(entry.type);
    return dtype ? dtype_name(*dtype) : plain(entry.type);
}

Row row_of(const io::SafetensorsFile& file, const io::SafetensorsEntry& entry) {
    Row row = {plain(entry.name), type_of(entry), concat(entry.shape),
               with_commas(static_cast<int64_t>(entry.end - entry.begin))};
    row.resize(9, "-");
    const std::optional<NumberSummary> summary = summary_of(file, entry);
    if (!summary) return row;
    if (summary->finite > 0) {
        row[4] = fmt::format("{:.4g}", summary->min);
        row[5] = fmt::format("{:.4g}", summary->mean);
        row[6] = fmt::format("{:.4g}", summary->max);
    }
    if (summary->integers) {
        row[4] = fmt::format("{}", summary->integers->min);
        row[6] = fmt::format("{}", summary->integers->max);
    }
    row[7] = with_commas(summary->nans);
    row[8] = with_commas(summary->infinities);
    return row;
}

uint64_t total_bytes(const io::SafetensorsFile& file) {
    return file.entries().empty() ? 0 : file.entries().back().end;
}

uint64_t total_numbers(const io::SafetensorsFile& file) {
    uint64_t numbers = 0;
    for (const io::SafetensorsEntry& entry : file.entries())
        numbers += static_cast<uint64_t>(element_count(entry.shape));
    return numbers;
}

// Returns the file as a table, with its metadata and totals. A tensor of a type that libmini
// does not have is listed without statistics.
std::string inspect_table(const io::SafetensorsFile& file) {
    std::vector<Row> rows = {
        {"name", "dtype", "shape", "bytes", "min", "mean", "max", "NaN", "Inf"}};
    for (const io::SafetensorsEntry& entry : file.entries())
        rows.push_back(row_of(file, entry));
    std::string text =
        file.entries().empty() ? "" : concat(aligned(rows, kLeftAligned, 3), "\n");

    for (const auto& [key, value] : file.metadata())
        text += fmt::format("{} = {}\n", plain(key), plain(value));
    if (!file.metadata().empty()) text += "\n";
    return concat(text, with_commas(std::ssize(file.entries())), " tensors, ",
                  with_commas(static_cast<int64_t>(total_numbers(file))), " numbers, ",
                  with_commas(static_cast<int64_t>(total_bytes(file))), " bytes\n");
}

}  // namespace

void add_inspect(Command& mini) {
    Command inspect = mini.add_command("inspect", "Shows what is in a safetensors file");
    const auto path = std::make_shared<std::string>();
    inspect.add("FILE", *path, "A model or a checkpoint").required();
    inspect.on_parsed(
        [path] { fmt::print("{}", inspect_table(io::SafetensorsFile(*path))); });
}

}  // namespace mini::tools
