#include "libmini/tools/mini/did_you_mean.hpp"

#include <algorithm>

#include "libmini/core/error.hpp"

namespace mini::tools {

int edit_distance(const std::string& a, const std::string& b) {
    // distance[i][j]: between the first i letters of a and the first j letters of b.
    std::vector<std::vector<int>> distance(a.size() + 1, std::vector<int>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i) distance[i][0] = static_cast<int>(i);
    for (size_t j = 0; j <= b.size(); ++j) distance[0][j] = static_cast<int>(j);
    for (size_t i = 1; i <= a.size(); ++i)
        for (size_t j = 1; j <= b.size(); ++j) {
            const int replace = distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            int& best = distance[i][j];
            best = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = std::min(best, distance[i - 2][j - 2] + 1);
        }
    return distance[a.size()][b.size()];
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
    constexpr size_t kMaxLength = 64;  // every option is shorter
    const std::string name = word.substr(0, std::min(word.find('='), kMaxLength));
    const std::string* closest = nullptr;
    int best = 1 + static_cast<int>(name.size()) / 3;  // at most a third of the letters
    for (const std::string& candidate : known) {
        // A prefix counts as close too: --max for --max-restarts.
        const bool is_prefix = name.size() >= 4 && candidate.rfind(name, 0) == 0;
        const int distance = is_prefix ? 1 : edit_distance(name, candidate);
        if (distance >= best) continue;
        best = distance;
        closest = &candidate;
    }
    return closest == nullptr ? "" : concat("; did you mean ", *closest, "?");
}

}  // namespace mini::tools
