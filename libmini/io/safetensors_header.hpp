// The header of a safetensors file: which tensors there are, and where their bytes lie.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/tensor/dtype.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::io {

/// Where one tensor lies; offsets are counted from the end of the header.
struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::kFloat32;
    Shape shape;
    uint64_t begin = 0;
    uint64_t end = 0;
};

/// The most names that a header may have: with them it takes under a gigabyte of memory.
constexpr size_t kMostNames = 1'000'000;

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;  // by begin, then end, then name
    std::map<std::string, std::string> metadata;
};

/// The header as JSON text. Throws UsageError for text that is not UTF-8.
std::string format_header(const SafetensorsHeader& header);

/// The header that `text` describes, for a file with `data_bytes` bytes of numbers.
/// Throws BadFile unless it is JSON of exactly this form, no name comes twice, there are up
/// to `most_names` names (those of metadata included), each tensor has up to 64 dimensions,
/// its offsets fit its shape, and the tensors fill those bytes without gap or overlap. The
/// message has no path, and is one line.
SafetensorsHeader parse_header(const std::string& text, uint64_t data_bytes,
                               size_t most_names = kMostNames);

}  // namespace mini::io
