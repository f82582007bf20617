#include "libmini/io/chart.hpp"

namespace mini::io {

std::string svg_of(const Chart& chart) {
    return std::visit([](const auto& kind) { return svg_of(kind); }, chart);
}

}  // namespace mini::io
