#include "libmini/tools/mini/bench_rows.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

void print_cell(const nlohmann::ordered_json& value) {
    if (value.is_string())
        fmt::print("{:<16}", value.get<std::string>());
    else if (value.is_null())
        fmt::print("{:>12}", "-");
    else if (value.is_number_integer())
        fmt::print("{:>12}", value.get<int64_t>());
    else
        fmt::print("{:>12.2f}", value.get<double>());
}

}  // namespace

BenchRows::BenchRows(std::vector<std::string> columns) : columns_(std::move(columns)) {
    fmt::print("{:<16}", columns_.at(0));
    for (size_t i = 1; i < columns_.size(); ++i) fmt::print("{:>12}", columns_[i]);
    fmt::print("\n");
}

void BenchRows::begin(const std::vector<Json>& cells) {
    rows_.push_back(Json::object());
    add(cells);
    std::fflush(stdout);
}

void BenchRows::end(const std::vector<Json>& cells) {
    add(cells);
    MINI_CHECK(rows_.back().size() == columns_.size(), "a row of ", rows_.back().size(),
               " cells in a table of ", columns_.size(), " columns");
    fmt::print("\n");
    std::fflush(stdout);
}

void BenchRows::add(const std::vector<Json>& cells) {
    Json& row = rows_.back();
    for (const Json& cell : cells) {
        row[columns_.at(row.size())] = cell;
        print_cell(cell);
    }
}

}  // namespace mini::tools
