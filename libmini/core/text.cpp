#include "libmini/core/text.hpp"

namespace mini {

std::string with_commas(int64_t number) {
    std::string text = std::to_string(number);
    const int64_t first_digit = number < 0 ? 1 : 0;
    for (auto at = static_cast<int64_t>(text.size()) - 3; at > first_digit; at -= 3)
        text.insert(static_cast<size_t>(at), 1, ',');
    return text;
}

std::string join(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

}  // namespace mini
