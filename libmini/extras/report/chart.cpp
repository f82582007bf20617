#include "libmini/extras/report/chart.hpp"

namespace mini::report {

std::string svg_of(const Chart& chart) {
    return std::visit([](const auto& kind) { return svg_of(kind); }, chart);
}

}  // namespace mini::report
