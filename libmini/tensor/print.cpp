#include "libmini/tensor/print.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

constexpr int64_t kEdgeItems = 3;  // elements printed at each end of a long dimension

std::string element(const Tensor& x) {
    return is_floating_point(x.dtype())
               ? fmt::format("{:.4f}", x.item())
               : fmt::format("{}", static_cast<int64_t>(x.item()));
}

void print_nested(std::ostream& out, const Tensor& x) {
    if (x.dim() == 0) {
        out << element(x);
        return;
    }
    out << '[';
    for (int64_t i = 0; i < x.size(0); ++i) {
        if (i > 0) out << ", ";
        if (x.size(0) > 2 * kEdgeItems + 2 && i == kEdgeItems) {
            out << "..., ";
            i = x.size(0) - kEdgeItems;
        }
        print_nested(out, ops::select(x, 0, i));
    }
    out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
    if (!x.defined()) return out << "tensor(undefined)";
    out << "tensor(";
    print_nested(out, x);
    if (x.dtype() != DType::kFloat32) out << ", dtype=" << x.dtype();
    return out << ')';
}

}  // namespace mini
