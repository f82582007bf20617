#include "libmini/core/text.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"

namespace mini {

std::string with_commas(int64_t number) {
    std::string text = std::to_string(number);
    const int64_t first_digit = number < 0 ? 1 : 0;
    for (auto i = static_cast<int64_t>(text.size()) - 3; i > first_digit; i -= 3)
        text.insert(static_cast<size_t>(i), 1, ',');
    return text;
}

std::string join(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string rank_list(const std::vector<int>& ranks) {
    constexpr size_t kMaxListed = 4;  // more consecutive ranks print as "0 to 6"
    if (ranks.size() == 1) return concat("rank ", ranks[0]);
    const bool consecutive = std::ranges::adjacent_find(ranks, [](int rank, int next) {
                                 return next != rank + 1;
                             }) == ranks.end();
    if (consecutive && ranks.size() > kMaxListed)
        return concat("ranks ", ranks.front(), " to ", ranks.back());

    std::string text = "ranks ";
    for (size_t i = 0; i < ranks.size(); ++i)
        text += concat(i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
    return text;
}

}  // namespace mini
