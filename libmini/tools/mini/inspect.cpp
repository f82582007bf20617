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

// The columns of a number: integers are exact.
std::string text_of(double number) { return fmt::format("{:.4g}", number); }
std::string text_of(int64_t number) { return fmt::format("{}", number); }

// Returns the last columns of a tensor's row: minimum, mean and maximum of the finite values,
// and the numbers of NaN and infinite values.
template <Element T>
Row statistics_of(const Tensor& tensor) {
    // A double has 53 bits, too few for an int64.
    using Number = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    int64_t finite = 0, nans = 0, infinities = 0;
    Number min = 0, max = 0;
    double sum = 0.0;
    for (const T element : tensor.span<T>()) {
        const auto number = static_cast<Number>(static_cast<OpMath<T>>(element));
        const auto x = static_cast<double>(number);
        nans += std::isnan(x);
        infinities += std::isinf(x);
        if (!std::isfinite(x)) continue;

        min = finite == 0 ? number : std::min(min, number);
        max = finite == 0 ? number : std::max(max, number);
        ++finite;
        sum += x;
    }
    Row row = {"-", "-", "-", with_commas(nans), with_commas(infinities)};
    if (finite == 0) return row;
    row[0] = text_of(min);
    row[1] = text_of(sum / static_cast<double>(finite));
    row[2] = text_of(max);
    return row;
}

// Escapes control characters in text from a file, so that it can be printed on a
// terminal.
std::string plain(const std::string& text) {
    const std::string quoted = nlohmann::json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

// Returns the row of an entry; without statistics for a type that libmini does not have.
Row row_of(const io::SafetensorsFile& file, const io::SafetensorsEntry& entry) {
    const std::optional<DType> dtype = io::find_dtype(entry.type);
    Row row = {plain(entry.name), dtype ? dtype_name(*dtype) : plain(entry.type),
               concat(entry.shape),
               with_commas(static_cast<int64_t>(entry.end - entry.begin))};
    Row statistics(5, "-");
    if (dtype)
        with_element(*dtype, [&]<Element T>(T) {
            statistics = statistics_of<T>(file.read(entry));
        });
    row.insert(row.end(), statistics.begin(), statistics.end());
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

// Returns the file as a table, with its metadata and totals.
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
