#include "libmini/optim/optimizer_state.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

#include "libmini/tensor/ops.hpp"

namespace mini::optim {
namespace {

constexpr double kMaxSteps = 0x1p53;  // a double represents every integer up to 2^53

bool is_step_count(double number) {
    return number >= 1 && number < kMaxSteps && number == std::floor(number);
}

}  // namespace

std::string state_name(size_t parameter, const std::string& what) {
    return concat("state.", parameter, ".", what);
}

std::string exact_text(double number) { return fmt::format("{}", number); }

double exact_number(const std::string& text) {
    double number = 0;
    const char* const last = text.data() + text.size();
    const auto end = std::from_chars(text.data(), last, number);
    if (end.ec != std::errc() || end.ptr != last)
        throw BadFile("\"", text, "\" is not a number");
    return number;
}

void write_state(const OptimizerState& state, const std::string& prefix,
                 io::Safetensors& file) {
    for (const auto& [name, tensor] : state.tensors)
        file.tensors.emplace_back(prefix + name, tensor);
    for (const auto& [name, number] : state.numbers)
        file.metadata[prefix + name] = exact_text(number);
}

OptimizerState read_state(const io::Safetensors& file, const std::string& prefix) {
    OptimizerState state;
    for (const auto& [name, tensor] : file.tensors)
        if (name.starts_with(prefix)) state.tensors[name.substr(prefix.size())] = tensor;
    for (const auto& [name, text] : file.metadata) {
        if (!name.starts_with(prefix)) continue;
        try {
            state.numbers[name.substr(prefix.size())] = exact_number(text);
        } catch (const BadFile& error) {
            throw BadFile("metadata ", name, ": ", error.what());
        }
    }
    return state;
}

StateReader::StateReader(std::string who, const OptimizerState& state,
                         const std::vector<Tensor>& parameters)
    : who_(std::move(who)), state_(state), parameters_(parameters) {}

double StateReader::number(const std::string& name) {
    known_numbers_.insert(name);
    const auto found = state_.numbers.find(name);
    if (found == state_.numbers.end()) reject(concat(name, " is missing"));
    return found->second;
}

std::vector<int64_t> StateReader::steps() {
    std::vector<int64_t> steps(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const std::string name = state_name(i, "step");
        if (!state_.numbers.contains(name)) continue;
        const double count = number(name);
        if (!is_step_count(count))
            reject(concat(name, " is ", count, ", not a count of steps"));
        steps[i] = static_cast<int64_t>(count);
    }
    return steps;
}

std::vector<Tensor> StateReader::tensors(const std::string& what,
                                         const std::vector<int64_t>& steps) {
    std::vector<Tensor> tensors(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const std::string name = state_name(i, what);
        if (steps.empty() ? state_.tensors.contains(name) : steps[i] > 0)
            tensors[i] = checked_copy(name, parameters_[i]);
    }
    return tensors;
}

Tensor StateReader::checked_copy(const std::string& name, const Tensor& parameter) {
    known_tensors_.insert(name);
    const auto found = state_.tensors.find(name);
    if (found == state_.tensors.end() || !found->second.defined())
        reject(concat(name, " is missing"));
    const Tensor& tensor = found->second;
    if (tensor.shape() != parameter.shape() || tensor.dtype() != parameter.dtype())
        reject(concat(name, " is ", tensor.shape(), " of ", tensor.dtype(),
                      ", but its parameter ", parameter.shape(), " of ",
                      parameter.dtype()));
    return ops::clone(tensor.to(parameter.device()));
}

void StateReader::finish() const {
    const auto check_known = [&](const auto& values, const auto& known) {
        for (const auto& [name, value] : values)
            if (!known.contains(name)) reject(concat(name, " is unknown"));
    };
    check_known(state_.tensors, known_tensors_);
    check_known(state_.numbers, known_numbers_);
}

void StateReader::reject(const std::string& fault) const {
    throw UsageError(who_, ": this state does not fit these ", parameters_.size(),
                     " parameters: ", fault);
}

}  // namespace mini::optim
