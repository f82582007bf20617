// A safetensors file whose tensors are read one at a time. load_safetensors reads them
// all.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/io/file.hpp"
#include "libmini/io/safetensors_header.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::io {

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
