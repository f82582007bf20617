// The table of a bench, printed while it is measured.
//
//     rung                    size          us      gflops
//     naive                     64     2251.49        0.23
//     coalesced                 64                            <- is being measured
//
// A slow row shows what is waited for, on a terminal and in a pipe.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mini::tools {

class BenchRows {
  public:
    using Json = nlohmann::ordered_json;

    /// Prints the header. The first column is of names, the others are of numbers.
    explicit BenchRows(std::vector<std::string> columns);

    /// Begins a row with what is known before it is measured, its name first.
    void begin(const std::vector<Json>& cells);

    /// Ends the row with its other cells; null is a number that there is none of.
    void end(const std::vector<Json>& cells);

    /// The rows: objects whose members are named as the columns.
    const Json& json() const { return rows_; }

  private:
    void add(const std::vector<Json>& cells);

    std::vector<std::string> columns_;
    Json rows_ = Json::array();
};

}  // namespace mini::tools
