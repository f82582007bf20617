#include "libmini/training/checkpoint_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <sstream>

#include "libmini/optim/optimizer_state.hpp"

namespace mini::training {

const std::string* CheckpointReader::text(const std::string& name) {
    const auto found = file_.metadata.find(name);
    if (found != file_.metadata.end()) return &found->second;
    errors_.push_back(concat("missing: ", name));
    return nullptr;
}

double CheckpointReader::number(const std::string& name, const std::string& text) {
    try {
        return optim::exact_number(text);
    } catch (const BadFile& error) {
        errors_.push_back(concat(name, ": ", error.what()));
        return 0.0;
    }
}

int64_t CheckpointReader::count(const std::string& name, int64_t minimum) {
    const std::string* const digits = text(name);
    if (digits == nullptr) return minimum;
    const double value = number(name, *digits);
    if (value >= static_cast<double>(minimum) && value <= 0x1p53 &&
        value == std::floor(value))
        return static_cast<int64_t>(value);
    errors_.push_back(concat(name, ": ", *digits, " is invalid"));
    return minimum;
}

std::vector<double> CheckpointReader::numbers(const std::string& name, int64_t entries) {
    std::vector<double> result;
    const std::string* const words = text(name);
    if (words == nullptr) return result;
    std::istringstream stream(*words);
    for (std::string word; stream >> word;) result.push_back(number(name, word));
    if (entries != -1 && std::ssize(result) != entries)
        errors_.push_back(
            concat(name, " has ", result.size(), " entries, not ", entries));
    return result;
}

std::map<std::string, std::string> CheckpointReader::texts(
    const std::string& prefix) const {
    std::map<std::string, std::string> found;
    for (const auto& [name, value] : file_.metadata)
        if (name.starts_with(prefix)) found[name.substr(prefix.size())] = value;
    return found;
}

std::map<std::string, double> CheckpointReader::numbers_under(const std::string& prefix) {
    std::map<std::string, double> found;
    for (const auto& [name, value] : texts(prefix))
        found[name] = number(prefix + name, value);
    return found;
}

bool CheckpointReader::has_tensor(const std::string& name) const {
    return std::ranges::any_of(file_.tensors,
                               [&](const auto& entry) { return entry.first == name; });
}

Tensor CheckpointReader::tensor(const std::string& name, DType dtype,
                                const Shape& shape) {
    read_names_.insert(name);
    if (!has_tensor(name)) {
        errors_.push_back(concat("missing: ", name));
        return {};
    }
    const Tensor found = file_.at(name);
    bool fits = found.dtype() == dtype && found.shape().size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i)
        fits = shape[i] == -1 || shape[i] == found.shape()[i];
    if (fits) return found;
    errors_.push_back(concat(name, " is ", found.dtype(), " ", found.shape(), ", not ",
                             dtype, " ", shape));
    return {};
}

void CheckpointReader::finish(const std::vector<std::string>& other_prefixes) const {
    std::vector<std::string> errors = errors_;
    for (const auto& entry : file_.tensors) {
        const std::string& name = entry.first;
        const bool is_other = std::ranges::any_of(
            other_prefixes,
            [&](const std::string& prefix) { return name.starts_with(prefix); });
        if (!is_other && !read_names_.contains(name))
            errors.push_back(concat("unexpected: ", name));
    }
    if (!errors.empty()) throw BadFile(fmt::format("{}", fmt::join(errors, "; ")));
}

}  // namespace mini::training
