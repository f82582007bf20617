// Reads and writes tensors in the format of Python's safetensors package.
//
//     8 bytes     N, little-endian
//     N bytes     JSON, padded with spaces to a multiple of 8:
//                 {"__metadata__": {"step": "100"},
//                  "bias": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]},
//                  "w": {"dtype": "F32", "shape": [10, 5], "data_offsets": [40, 240]}}
//     the rest    the elements, little-endian, row-major, at data_offsets, without gaps
//
// An untrusted file is safe to read: no code in the file is executed, and sizes are
// checked against each other and against the file size before memory is allocated.
// Format: huggingface.co/docs/safetensors.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/io/file.hpp"
#include "libmini/io/safetensors_header.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::io {

using mini::NamedTensors;

/// The contents of a file.
struct Safetensors {
    NamedTensors tensors;  // in the order of their bytes in the file
    std::map<std::string, std::string> metadata;

    /// Returns the tensor with this name. Throws Error, listing the existing names, if no
    /// tensor has this name.
    const Tensor& at(const std::string& name) const;
};

/// Writes the tensors to `path` (`safetensors.torch.save_file`). After a crash, `path`
/// has the old file or the complete new file. Orders the tensors as save_file does:
/// int64, float32, bfloat16, float16, uint8, and by name within a dtype. Throws
/// UsageError if a name or metadata are not UTF-8, if a name occurs twice or is
/// "__metadata__", or if a tensor is undefined. Throws BadFile, with the reason, if the
/// file cannot be written.
void save_safetensors(const std::string& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

/// Reads a file into new tensors on the CPU (`safetensors.torch.load_file`). Throws
/// BadFile, with path and reason, if the file cannot be read, violates the format, or has
/// element types other than F32, F16, BF16, I64 and U8.
Safetensors load_safetensors(const std::string& path);

/// A file, open for reading (`safetensors.safe_open`): lists all entries, and reads the
/// tensors of which libmini has the dtype, one at a time.
class SafetensorsFile {
  public:
    /// Reads the header. Throws BadFile, with path and reason, if the file cannot be read
    /// or violates the format.
    explicit SafetensorsFile(const std::string& path);

    /// Returns the tensors' names, types and shapes, in the order of their bytes.
    const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
    const std::map<std::string, std::string>& metadata() const {
        return header_.metadata;
    }

    /// Returns the dtype of an entry. Throws BadFile if libmini does not have its type.
    DType dtype_of(const SafetensorsEntry& entry) const;

    /// Reads a tensor into memory of the CPU. Throws BadFile as dtype_of does, or if
    /// reading fails.
    Tensor read(const SafetensorsEntry& entry) const;

  private:
    InputFile file_;
    uint64_t data_begin_ = 0;
    SafetensorsHeader header_;
};

}  // namespace mini::io
