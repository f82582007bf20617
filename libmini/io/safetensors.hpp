// Tensors in files, in the safetensors format: readable from Python, and safe to read.
//
//     8 bytes     N, little-endian
//     N bytes     JSON, filled up with spaces to a multiple of 8:
//                 {"__metadata__": {"step": "100"},
//                  "bias": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]},
//                  "w": {"dtype": "F32", "shape": [10, 5], "data_offsets": [40, 240]}}
//     the rest    the numbers, little-endian, row by row, at those offsets, without gaps
//
// Nothing in a file is executed, and nothing is believed: sizes are checked against each
// other and against the file before memory is asked for. Format:
// huggingface.co/docs/safetensors.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::io {

/// Tensors by name, in their order.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// What a file holds.
struct Safetensors {
    NamedTensors tensors;  // in the order of their bytes
    std::map<std::string, std::string> metadata;

    /// The tensor of that name. Throws Error, naming those there are, when there is none.
    const Tensor& at(const std::string& name) const;
};

/// Writes the tensors to `path`, so that a crash leaves the old file or the new one whole
/// (`safetensors.torch.save_file`). Bytes are laid out as that function does: int64
/// first, then float32, bfloat16, float16, uint8, by name among equals. Throws UsageError for names that
/// are not UTF-8, come twice, or are "__metadata__"; BadFile, with the reason, when the
/// file cannot be written.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads a file into new tensors on the CPU (`safetensors.torch.load_file`). Throws
/// BadFile, with path and reason, for anything that the format does not allow, and for
/// element types other than F32, F16, BF16, I64 and U8.
Safetensors load_safetensors(const std::string& path);

}  // namespace mini::io
