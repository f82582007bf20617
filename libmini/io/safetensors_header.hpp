// The header of a safetensors file: the names, dtypes, shapes and byte offsets of its
// tensors.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/dtype.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::io {

/// One tensor; its byte offsets are relative to the end of the header.
struct SafetensorsEntry {
    std::string name;
    std::string type;  // as in the file: "F32", "F8_E4M3"
    Shape shape;
    uint64_t begin = 0;
    uint64_t end = 0;
};

/// The maximum number of names in a header. With this limit, a parsed header takes less
/// than 1 GB of memory.
constexpr size_t kMaxNames = 1'000'000;

struct SafetensorsHeader {
    std::vector<SafetensorsEntry> entries;  // sorted by begin, then end, then name
    std::map<std::string, std::string> metadata;
};

/// Returns the text, shortened if it is long, in quotes and with control characters
/// escaped, so that an error message is one line.
std::string quoted_name(const std::string& text);

/// Returns the name of a dtype in the format: "F32".
const char* type_name(DType dtype);

/// Returns the dtype with this name; std::nullopt for a type that libmini does not have.
std::optional<DType> find_dtype(const std::string& type);

/// Returns the header as JSON text. Throws UsageError for names or metadata that are not
/// UTF-8.
std::string format_header(const SafetensorsHeader& header);

/// Parses the header of a file with `data_bytes` bytes after the header. Throws BadFile,
/// with a one-line message without the path, unless the following hold: `text` is JSON of
/// exactly this form; no name occurs twice; there are at most `max_names` names,
/// including those of metadata; each tensor has at most 64 dimensions; its offsets match
/// its shape and dtype, if libmini has the dtype; and the tensors fill the `data_bytes`
/// bytes without gaps or overlaps.
SafetensorsHeader parse_header(const std::string& text, uint64_t data_bytes,
                               size_t max_names = kMaxNames);

}  // namespace mini::io
