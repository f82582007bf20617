#include "libmini/parallel/zero_state.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "libmini/distributed/group/gather.hpp"
#include "libmini/parallel/same_parameters.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

constexpr std::string_view kPrefix = "state.";

// Returns one line per entry: "number lr 0.1", or "tensor state.0.exp_avg 0 2 5 3"
// (dtype, number of dimensions, sizes).
std::string describe(const optim::OptimizerState& state) {
    std::ostringstream out;
    for (const auto& [name, number] : state.numbers)
        out << "number " << name << ' ' << optim::exact_text(number) << '\n';
    for (const auto& [name, tensor] : state.tensors) {
        out << "tensor " << name << ' ' << static_cast<int>(tensor.dtype()) << ' '
            << tensor.dim();
        for (const int64_t size : tensor.shape()) out << ' ' << size;
        out << '\n';
    }
    return out.str();
}

// Parses the text of describe(); the tensors have no values yet.
optim::OptimizerState from_description(const std::string& text) {
    optim::OptimizerState state;
    std::istringstream in(text);
    std::string kind, name;
    while (in >> kind >> name) {
        if (kind == "number") {
            std::string number;
            in >> number;
            state.numbers[name] = optim::exact_number(number);
            continue;
        }
        int dtype = 0;
        size_t dims = 0;
        in >> dtype >> dims;
        Shape shape(dims);
        for (int64_t& size : shape) in >> size;
        state.tensors[name] =
            Tensor::empty(shape, static_cast<DType>(dtype), Device::cpu());
    }
    return state;
}

// Returns "state.3.exp_avg" with new_number(3) in place of 3; std::nullopt if
// new_number(3) is std::nullopt.
std::optional<std::string> renamed(
    const std::string& name,
    const std::function<std::optional<size_t>(size_t number)>& new_number) {
    if (!name.starts_with(kPrefix)) return name;
    const char* const first = name.data() + kPrefix.size();
    const char* const last = name.data() + name.size();
    size_t number = 0;
    const auto end = std::from_chars(first, last, number);
    if (end.ec != std::errc() || end.ptr == last || *end.ptr != '.')
        throw UsageError("optimizer state: the name ", name,
                         " is not of the form state.NUMBER.WHAT");
    const std::optional<size_t> other = new_number(number);
    if (!other) return std::nullopt;
    return optim::state_name(*other, std::string(end.ptr + 1, last));
}

}  // namespace

void check_shardable(dist::ProcessGroup& group, const std::vector<Tensor>& parameters) {
    nn::NamedTensors without_names;
    for (const Tensor& parameter : parameters) without_names.emplace_back("", parameter);
    check_same_parameters(group,
                          {.who = "ZeroRedundancyOptimizer",
                           .what = "parameters",
                           .remedy = "every rank must pass the same list"},
                          without_names);
    for (size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].dtype() != DType::kFloat32)
            throw UsageError("ZeroRedundancyOptimizer: parameter ", i, " is ",
                             parameters[i].dtype(), ", not float32");
}

optim::OptimizerState broadcast_state(dist::ProcessGroup& group,
                                      const optim::OptimizerState& state, int from) {
    const bool is_sender = group.rank() == from;
    const auto texts = dist::all_gather_texts(group, is_sender ? describe(state) : "");
    optim::OptimizerState copy =
        is_sender ? state : from_description(texts[static_cast<size_t>(from)]);
    for (auto& [name, tensor] : copy.tensors) {
        if (is_sender) tensor = ops::clone(tensor).to(Device::cpu());
        group.broadcast(tensor, from);
    }
    return copy;
}

optim::OptimizerState renumbered(
    const optim::OptimizerState& state,
    const std::function<std::optional<size_t>(size_t number)>& new_number) {
    optim::OptimizerState result;
    // [lab19.3] Copy each entry that has a new name, under this name.
    for (const auto& [name, tensor] : state.tensors)
        if (const auto other = renamed(name, new_number)) result.tensors[*other] = tensor;
    for (const auto& [name, number] : state.numbers)
        if (const auto other = renamed(name, new_number)) result.numbers[*other] = number;
    // [lab19.3]
    return result;
}

optim::OptimizerState collect_state(dist::ProcessGroup& group,
                                    const optim::OptimizerState& local,
                                    const std::vector<size_t>& indices, int to) {
    optim::OptimizerState all;
    // [lab19.3] Broadcast each rank's state, and merge the states on rank `to`.
    const optim::OptimizerState mine =
        renumbered(local, [&](size_t k) -> std::optional<size_t> {
            if (k >= indices.size()) return std::nullopt;
            return indices[k];
        });

    // Begin with rank `to`, since merge keeps the first value of a name.
    for (int i = 0; i < group.world_size(); ++i) {
        const int from = (to + i) % group.world_size();
        optim::OptimizerState theirs = broadcast_state(group, mine, from);
        if (group.rank() != to) continue;
        all.tensors.merge(theirs.tensors);
        all.numbers.merge(theirs.numbers);
    }
    // [lab19.3]
    return all;
}

optim::OptimizerState own_state(const optim::OptimizerState& state,
                                const std::vector<size_t>& indices, size_t count) {
    // [lab19.4] Keep the entries of these parameters, each with its own number.
    return renumbered(state, [&](size_t number) -> std::optional<size_t> {
        if (number >= count)
            throw UsageError(concat("ZeroRedundancyOptimizer: the state has a parameter ",
                                    number, ", but there are ", count, " parameters"));
        const auto found = std::ranges::find(indices, number);
        if (found == indices.end()) return std::nullopt;
        return static_cast<size_t>(found - indices.begin());
    });
    // [lab19.4]
}

}  // namespace mini::parallel
