// The state of an optimizer as names and values, for a checkpoint or for another rank.
//
//     tensors   state.3.momentum_buffer    of parameter 3, with its shape
//               state.3.exp_avg            ...
//     numbers   lr, momentum, betas.0      options
//               state.3.step               number of steps of parameter 3
//
// A parameter that has taken no step has no entries. A safetensors file stores the
// tensors as tensors, and the numbers as strings in its metadata; the strings convert
// back to exactly the same numbers.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

/// The state of an optimizer, by name.
struct OptimizerState {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, double> numbers;
};

/// Returns the name of an entry, such as "state.3.exp_avg".
std::string state_name(size_t parameter, const std::string& what);

/// Returns the shortest decimal that converts back to exactly this double: "0.1",
/// "1e-08", "inf".
std::string exact_text(double number);

/// Converts the result of exact_text back to the number. Throws BadFile unless `text`
/// is a number.
double exact_number(const std::string& text);

/// Adds the state to the contents of a file, with `prefix`, such as "optimizer.", before
/// each name.
void write_state(const OptimizerState& state, const std::string& prefix,
                 io::Safetensors& file);

/// Returns the state that write_state added. Throws BadFile for a value that is not a
/// number.
OptimizerState read_state(const io::Safetensors& file, const std::string& prefix);

/// Parses a state for load_state_dict: the caller reads each expected entry, and then
/// calls finish(). Each function throws UsageError with the first fault that it finds.
class StateReader {
  public:
    /// `who`, such as "SGD", is the start of the error message. REQUIRES: `state` and
    /// `parameters` outlive this object.
    StateReader(std::string who, const OptimizerState& state,
                const std::vector<Tensor>& parameters);

    /// Returns the number with this name.
    double number(const std::string& name);

    /// Returns the number of steps of each parameter; 0 if the parameter has no entry.
    std::vector<int64_t> steps();

    /// Returns a copy of the tensor `what` of each parameter; an undefined tensor if the
    /// parameter has no entry. With `steps`, an entry is required for each parameter i with
    /// steps[i] > 0; an entry of any other parameter is unknown.
    std::vector<Tensor> tensors(const std::string& what,
                                const std::vector<int64_t>& steps = {});

    /// Throws UsageError if the state has an entry that was not read.
    void finish() const;

  private:
    [[noreturn]] void reject(const std::string& fault) const;
    Tensor checked_copy(const std::string& name, const Tensor& parameter);

    std::string who_;
    const OptimizerState& state_;
    const std::vector<Tensor>& parameters_;
    std::set<std::string> known_numbers_, known_tensors_;  // that the caller has read
};

}  // namespace mini::optim
