#include "libmini/program/table.hpp"

#include <algorithm>

namespace mini {

std::string aligned(const std::vector<std::vector<std::string>>& rows, size_t left,
                    size_t gap) {
    std::vector<size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (size_t k = 0; k < row.size(); ++k)
            widths[k] = std::max(widths[k], row[k].size());
    }
    std::string text;
    for (const auto& row : rows) {
        for (size_t k = 0; k < row.size(); ++k) {
            const std::string blanks(widths[k] - row[k].size(), ' ');
            if (k > 0) text.append(gap, ' ');
            text += k < left ? row[k] + blanks : blanks + row[k];
        }
        text += '\n';
    }
    return text;
}

}  // namespace mini
