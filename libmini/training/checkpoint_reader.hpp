// Takes a checkpoint's file apart: asks for each thing there should be, notes what is
// wrong, and reports it all at the end.

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

/// Reads the parts of a checkpoint by name, and collects what is wrong with them.
class CheckpointReader {
  public:
    /// REQUIRES: `file` outlives this.
    explicit CheckpointReader(const io::Safetensors& file) : file_(file) {}

    /// Whether the file has a tensor of this name.
    bool has_tensor(const std::string& name) const;

    /// The metadata of that name: a whole number, `least` where it is wrong; `entries`
    /// numbers with spaces between them, -1 being any; and all texts and numbers whose
    /// names begin with `prefix`, without it.
    int64_t count(const std::string& name, int64_t least);
    std::vector<double> numbers(const std::string& name, int64_t entries);
    std::map<std::string, std::string> texts(const std::string& prefix) const;
    std::map<std::string, double> numbers_under(const std::string& prefix);

    /// The numbers of a tensor of that shape, a dimension of -1 being any size, as rows:
    /// none where it is wrong.
    template <typename T>
    std::vector<std::vector<T>> rows(const std::string& name, const Shape& shape);

    /// Throws BadFile with the list of all that was wrong, and of the tensors that were
    /// not asked for, those aside whose names begin with one of `others`.
    void finish(const std::vector<std::string>& others) const;

  private:
    const std::string* text(const std::string& name);
    double number(const std::string& name, const std::string& text);
    Tensor tensor(const std::string& name, DType dtype, const Shape& shape);

    const io::Safetensors& file_;
    std::set<std::string> asked_;
    std::vector<std::string> wrong_;
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
