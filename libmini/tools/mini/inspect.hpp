// mini inspect: what is in a safetensors file, and whether its numbers are sound.
//
//     name      dtype     shape    bytes       min       mean      max   NaN  Inf
//     fc.bias   float32   (10,)       40   -0.1391   0.002113   0.1267     0    0

#pragma once

#include <cstdint>
#include <string>

#include "libmini/io/safetensors.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::tools {

/// What the numbers of one tensor are like; min, mean and max are of the finite ones.
struct NumberSummary {
    int64_t finite = 0;
    int64_t nans = 0;
    int64_t infinities = 0;
    double min = 0.0;
    double mean = 0.0;
    double max = 0.0;
};
NumberSummary summarise(const Tensor& tensor);

/// The file as a table with its metadata and totals, and as one JSON object on one line.
std::string inspect_table(const io::Safetensors& file);
std::string inspect_json(const io::Safetensors& file);

/// Declares `inspect` in `mini`; it prints to stdout when the command line has been
/// parsed. Throws BadFile, one line, for a file that is not one.
void add_inspect(Command& mini);

}  // namespace mini::tools
