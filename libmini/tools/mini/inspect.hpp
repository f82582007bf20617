// mini inspect: lists the tensors of a safetensors file, and counts NaN and infinite
// values.
//
//     name      dtype     shape    bytes       min       mean      max   NaN  Inf
//     fc.bias   float32   (10,)       40   -0.1391   0.002113   0.1267     0    0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libmini/io/safetensors_file.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {

/// Statistics of one tensor. `min`, `mean` and `max` are those of the finite values.
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

/// Returns the statistics of `tensor`. Throws Error for an unknown dtype.
NumberSummary summarise(const Tensor& tensor);

/// Returns the file as a table, with its metadata and totals. A tensor of a type that
/// libmini does not have is listed without statistics. Throws BadFile if reading fails.
std::string inspect_table(const io::SafetensorsFile& file);

}  // namespace mini::tools
