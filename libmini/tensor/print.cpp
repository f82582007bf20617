#include "libmini/tensor/print.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

constexpr int64_t kThreshold = 1000;  // elements of the largest tensor printed in full
constexpr int64_t kEdgeItems = 3;     // elements printed at each end of a long dimension
constexpr size_t kLineWidth = 80;
constexpr size_t kIndent = 7;  // the length of "tensor("

bool is_long(const Tensor& x, bool abbreviated) {
    return abbreviated && x.size(0) > 2 * kEdgeItems;
}

// Calls visit(i) for each index of the first dimension that is printed, and gap() for those
// that are not.
template <typename Visit, typename Gap>
void for_each_printed(const Tensor& x, bool abbreviated, const Visit& visit,
                      const Gap& gap) {
    const int64_t size = x.size(0);
    for (int64_t i = 0; i < size; ++i) {
        if (is_long(x, abbreviated) && i == kEdgeItems) {
            gap();
            i = size - kEdgeItems;
        }
        visit(i);
    }
}

// Appends the elements of x that are printed.
void collect(std::vector<Tensor>& elements, const Tensor& x, bool abbreviated) {
    if (x.dim() == 0) return elements.push_back(x);
    for_each_printed(
        x, abbreviated,
        [&](int64_t i) { collect(elements, ops::select(x, 0, i), abbreviated); }, [] {});
}

// How all elements of a tensor are printed: "2." if all are integers, "1.0000e-05" if the
// magnitudes differ much, otherwise "0.1000"; aligned on the right.
class Format {
  public:
    explicit Format(const std::vector<Tensor>& elements) {
        double least = INFINITY, greatest = 0;
        for (const Tensor& element : elements) {
            if (!is_floating_point(element.dtype())) continue;
            const double size = std::abs(element.item());
            if (size == 0 || !std::isfinite(size)) continue;
            least = std::min(least, size);
            greatest = std::max(greatest, size);
            all_integers_ = all_integers_ && size == std::ceil(size);
        }
        is_scientific_ = greatest > 0 && (greatest / least > 1e3 || greatest > 1e8 ||
                                          (!all_integers_ && least < 1e-4));
        for (const Tensor& element : elements)
            if (is_measured(element)) width_ = std::max(width_, text(element).size());
    }

    size_t width() const { return width_; }

    std::string operator()(const Tensor& element) const {
        return fmt::format("{:>{}}", text(element), width_);
    }

  private:
    // Returns whether an element determines the width: not 0, NaN or infinity.
    static bool is_measured(const Tensor& element) {
        if (!is_floating_point(element.dtype())) return true;
        return element.item() != 0 && std::isfinite(element.item());
    }

    std::string text(const Tensor& element) const {
        if (element.dtype() == DType::kInt64)
            return fmt::format("{}", element.item<int64_t>());
        const double value = element.item();
        if (element.dtype() == DType::kUInt8) return fmt::format("{}", value);
        if (std::isnan(value)) return "nan";
        if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
        if (is_scientific_) return fmt::format("{:.4e}", value);
        return all_integers_ ? fmt::format("{:.0f}.", value)
                             : fmt::format("{:.4f}", value);
    }

    bool all_integers_ = true;
    bool is_scientific_ = false;
    size_t width_ = 1;
};

// Returns a row "[1, 2, 3]", in lines of at most kLineWidth characters.
std::string row_text(const Tensor& x, size_t indent, bool abbreviated,
                     const Format& format) {
    const size_t per_line = std::max<size_t>(
        1, (kLineWidth - std::min(indent, kLineWidth)) / (format.width() + 2));
    std::vector<std::string> lines;
    size_t count = 0;
    const auto add = [&](const std::string& text) {
        if (count++ % per_line == 0)
            lines.push_back(text);
        else
            lines.back().append(", ").append(text);
    };
    for_each_printed(
        x, abbreviated, [&](int64_t i) { add(format(ops::select(x, 0, i))); },
        [&] { add(" ..."); });
    return fmt::format("[{}]",
                       fmt::join(lines, concat(",\n", std::string(indent + 1, ' '))));
}

std::string text_of(const Tensor& x, size_t indent, bool abbreviated,
                    const Format& format) {
    if (x.dim() == 0) return format(x);
    if (x.dim() == 1) return row_text(x, indent, abbreviated, format);
    std::vector<std::string> parts;
    for_each_printed(
        x, abbreviated,
        [&](int64_t i) {
            parts.push_back(
                text_of(ops::select(x, 0, i), indent + 1, abbreviated, format));
        },
        [&] { parts.emplace_back("..."); });
    const std::string lines(static_cast<size_t>(x.dim() - 1), '\n');
    return fmt::format(
        "[{}]", fmt::join(parts, concat(",", lines, std::string(indent + 1, ' '))));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
    if (!x.defined()) return out << "tensor(undefined)";
    const bool is_empty = x.numel() == 0, abbreviated = x.numel() > kThreshold;
    if (is_empty) {
        out << "tensor([]";
        if (x.dim() != 1) out << concat(", size=", x.shape());
    } else {
        const Tensor host = x.to(Device::cpu());
        std::vector<Tensor> elements;
        collect(elements, host, abbreviated);
        out << "tensor(" << text_of(host, kIndent, abbreviated, Format(elements));
    }
    if (x.dtype() != DType::kFloat32 && (is_empty || x.dtype() != DType::kInt64))
        out << ", dtype=" << x.dtype();
    return out << ')';
}

}  // namespace mini
