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

namespace train_mnist {

class CheckpointReader {
  public:
    /// REQUIRES: `file` outlives this.
    explicit CheckpointReader(const mini::io::Safetensors& file) : file_(file) {}

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
    std::vector<std::vector<T>> rows(const std::string& name, const mini::Shape& shape);

    /// Throws BadFile with the list of all that was wrong, and of the tensors that were
    /// not asked for, those aside whose names begin with one of `others`.
    void finish(const std::vector<std::string>& others) const;

  private:
    const std::string* text(const std::string& name);
    double number(const std::string& name, const std::string& text);
    mini::Tensor tensor(const std::string& name, mini::DType dtype,
                        const mini::Shape& shape);

    const mini::io::Safetensors& file_;
    std::set<std::string> asked_;
    std::vector<std::string> wrong_;
};

template <typename T>
std::vector<std::vector<T>> CheckpointReader::rows(const std::string& name,
                                                   const mini::Shape& shape) {
    std::vector<std::vector<T>> result;
    const mini::Tensor found = tensor(name, mini::dtype_of<T>(), shape);
    if (!found.defined()) return result;
    const std::vector<T> all = found.to_vector<T>();
    const auto width = static_cast<ptrdiff_t>(found.shape()[1]);
    for (auto row = all.begin(); row != all.end(); row += width)
        result.emplace_back(row, row + width);
    return result;
}

}  // namespace train_mnist
