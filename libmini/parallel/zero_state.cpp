#include "libmini/parallel/zero_state.hpp"

#include <charconv>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "libmini/distributed/group/gather.hpp"
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
        throw UsageError(concat("optimizer state: the name ", name,
                                " is not of the form state.NUMBER.WHAT"));
    const std::optional<size_t> other = new_number(number);
    if (!other) return std::nullopt;
    return optim::state_name(*other, std::string(end.ptr + 1, last));
}

}  // namespace

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

}  // namespace mini::parallel
