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

    /// Returns whether the file has a tensor with this name.
    bool has_tensor(const std::string& name) const;

    /// Returns the metadata entry `name` as an integer. If the entry is missing, not an
    /// integer, or below `minimum`, records an error and returns `minimum`.
    int64_t count(const std::string& name, int64_t minimum);

    /// Returns the numbers in the metadata entry `name`, which are separated by spaces.
    /// Records an error if the entry does not have `entries` numbers; -1 allows any
    /// number.
    std::vector<double> numbers(const std::string& name, int64_t entries);

    /// Returns all metadata entries whose names begin with `prefix`, with the prefix
    /// removed from the names.
    std::map<std::string, std::string> texts(const std::string& prefix) const;

    /// Returns the entries of texts(prefix) as numbers. Records an error for each entry
    /// that is not a number.
    std::map<std::string, double> numbers_under(const std::string& prefix);

    /// Returns the values of a tensor of two dimensions, row by row; a size of -1 in
    /// `shape` allows any size. If the tensor is missing or differs in shape or dtype,
    /// records an error and returns an empty vector.
    template <typename T>
    std::vector<std::vector<T>> rows(const std::string& name, const Shape& shape);

    /// Throws BadFile if errors were recorded or tensors were not read; the message lists
    /// all errors and these tensors. Ignores tensors whose names begin with one of
    /// `other_prefixes`.
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
