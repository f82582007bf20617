// Parses a checkpoint file: the caller reads each expected entry, and finish() reports
// all errors together.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/safetensors.hpp"

namespace mini::training {

/// Reads the entries of a checkpoint by name, and collects the errors found in them.
class CheckpointReader {
  public:
    /// REQUIRES: `file` outlives this object.
    explicit CheckpointReader(const io::Safetensors& file) : file_(file) {}

    /// Whether the file has a tensor of this name.
    bool has_tensor(const std::string& name) const;

    /// Returns the metadata entry `name` as an integer; `minimum` if it is missing, not
    /// an integer, or below `minimum`.
    int64_t count(const std::string& name, int64_t minimum);

    /// Returns the metadata entry `name` as numbers separated by spaces. An error unless
    /// there are `entries` of them; -1 allows any number of entries.
    std::vector<double> numbers(const std::string& name, int64_t entries);

    /// Returns all metadata entries whose names begin with `prefix`, with the prefix
    /// removed from the names.
    std::map<std::string, std::string> texts(const std::string& prefix) const;

    /// Returns the entries of texts(prefix) as numbers.
    std::map<std::string, double> numbers_under(const std::string& prefix);

    /// Returns the values of a tensor of two dimensions, row by row; a size of -1 in
    /// `shape` allows any size. Returns an empty vector if the tensor is missing or
    /// differs in shape or dtype.
    template <typename T>
    std::vector<std::vector<T>> rows(const std::string& name, const Shape& shape);

    /// Throws BadFile if there were errors, with a list of all of them and of all tensors
    /// that were not read, except tensors whose names begin with one of `other_prefixes`.
    void finish(const std::vector<std::string>& other_prefixes) const;

  private:
    const std::string* text(const std::string& name);
    double number(const std::string& name, const std::string& text);
    Tensor tensor(const std::string& name, DType dtype, const Shape& shape);

    const io::Safetensors& file_;
    std::set<std::string> read_names_;
    std::vector<std::string> errors_;
};

template <typename T>
std::vector<std::vector<T>> CheckpointReader::rows(const std::string& name,
                                                   const Shape& shape) {
    std::vector<std::vector<T>> result;
    const Tensor found = tensor(name, dtype_of<T>(), shape);
    if (!found.defined()) return result;
    const std::vector<T> all = found.to_vector<T>();
    const auto width = static_cast<ptrdiff_t>(found.shape()[1]);
    for (auto row = all.begin(); row != all.end(); row += width)
        result.emplace_back(row, row + width);
    return result;
}

}  // namespace mini::training
