#include "libmini/core/text.hpp"

namespace mini {

std::string with_commas(int64_t number) {
    std::string text = std::to_string(number);
    const int64_t first_digit = number < 0 ? 1 : 0;
    for (auto at = static_cast<int64_t>(text.size()) - 3; at > first_digit; at -= 3)
        text.insert(static_cast<size_t>(at), 1, ',');
    return text;
}

}  // namespace mini
