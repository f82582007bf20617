// What an optimizer remembers, as names and values: for a checkpoint, or for another rank.
//
//     tensors   state.3.momentum_buffer    of parameter 3, in the shape of parameter 3
//               state.3.exp_avg            ...
//     numbers   lr, momentum, betas.0      options
//               state.3.step               steps that parameter 3 has taken
//
// A parameter that has taken no step has no names. In a file, tensors are tensors and
// numbers are texts of the metadata, written so that they come back to the last bit.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::optim {

/// All that an optimizer remembers, by name.
struct OptimizerState {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, double> numbers;
};

/// "state.3.exp_avg".
std::string state_name(size_t parameter, const std::string& what);

/// The shortest decimal that reads back as exactly this double: "0.1", "1e-08", "inf".
std::string exact_text(double number);

/// The number that exact_text wrote. Throws BadFile for any other text.
double exact_number(const std::string& text);

/// Adds the state to what goes into a file, each name behind `prefix` ("optimizer.").
void add_state(const OptimizerState& state, const std::string& prefix,
               io::Safetensors& file);

/// The state that add_state put there. Throws BadFile for a number that is none.
OptimizerState state_in(const io::Safetensors& file, const std::string& prefix);

/// Takes a state apart for load_state_dict: asks for each name there should be, notes
/// what is wrong, and reports it all at the end.
class StateReader {
  public:
    /// `who` begins the report: "SGD".
    StateReader(std::string who, const OptimizerState& state,
                const std::vector<Tensor>& parameters);

    /// The number of that name; 0 when it is missing.
    double number(const std::string& name);

    /// For each parameter its number of steps; 0 where it has none.
    std::vector<int64_t> steps();

    /// For each parameter a copy of its tensor `what`, undefined where there is none.
    std::vector<Tensor> tensors(const std::string& what);

    /// The same, where exactly the parameters that have taken steps must have one.
    std::vector<Tensor> tensors(const std::string& what,
                                const std::vector<int64_t>& steps);

    /// Throws UsageError with all that is missing, unknown, or of a different shape.
    void finish();

  private:
    Tensor checked_copy(const std::string& name, const Tensor& parameter);

    std::string who_;
    const OptimizerState& state_;
    const std::vector<Tensor>& parameters_;
    std::set<std::string> known_;  // the names asked for
    std::vector<std::string> differences_;
};

}  // namespace mini::optim
