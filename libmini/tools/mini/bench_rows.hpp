// The table of a benchmark, printed row by row during the measurements.
//
//     rung                    size          us      gflops
//     naive                     64     2251.49        0.23
//     coalesced                 64                            <- now measured
//
// The name of a row is printed before the row is measured, even if stdout is a pipe.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mini::tools {

class BenchRows {
  public:
    using Json = nlohmann::ordered_json;

    /// Prints the header. The first column contains names, the others contain numbers.
    explicit BenchRows(std::vector<std::string> columns);

    /// Begins a row with the cells that are known before the measurement; the first cell
    /// is the name.
    void begin(const std::vector<Json>& cells);

    /// Ends the row with its other cells; a null cell is a missing number.
    void end(const std::vector<Json>& cells);

    /// Returns the rows as objects, with the column names as keys.
    const Json& json() const { return rows_; }

  private:
    void add(const std::vector<Json>& cells);

    std::vector<std::string> columns_;
    Json rows_ = Json::array();
};

}  // namespace mini::tools
