#include "libmini/dist/slurm_lists.hpp"

#include <charconv>
#include <cstdint>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr size_t kMostHosts = 1 << 20;

template <typename Number>
bool parse_whole(const std::string& text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && rest == end;
}

[[noreturn]] void refuse_list(const std::string& text) {
    throw UsageError(concat("\"", text,
                            "\" is no list in Slurm's notation, such as "
                            "node[01-03,7],gpu5 or 4(x2),3"));
}

// "a[1,2],b" cut at the commas outside of brackets: "a[1,2]", "b".
std::vector<std::string> split_outside_brackets(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += (c == '[') - (c == ']');
        if (depth < 0 || depth > 1) refuse_list(text);
        if (c == ',' && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (depth != 0) refuse_list(text);
    for (const std::string& part : parts)
        if (part.empty()) refuse_list(text);
    return parts;
}

// "01-03" as 01, 02, 03; "7" as itself. Leading zeros keep the width.
std::vector<std::string> expand_range(const std::string& range, const std::string& text) {
    const size_t dash = std::min(range.find('-'), range.size());
    const std::string first = range.substr(0, dash);
    const std::string last = dash < range.size() ? range.substr(dash + 1) : first;
    uint64_t begin = 0, end = 0;
    const bool is_good =
        parse_whole(first, begin) && parse_whole(last, end) && begin <= end;
    if (!is_good || end - begin >= kMostHosts) refuse_list(text);
    std::vector<std::string> numbers;
    for (uint64_t n = begin; n <= end; ++n) {
        const std::string digits = std::to_string(n);
        const size_t zeros =
            first.size() > digits.size() ? first.size() - digits.size() : 0;
        numbers.push_back(concat(std::string(zeros, '0'), digits));
    }
    return numbers;
}

// "rack[1-2]n[1,3]x" as rack1n1x, rack1n3x, rack2n1x, rack2n3x.
std::vector<std::string> expand_host(const std::string& pattern,
                                     const std::string& text) {
    const size_t open = pattern.find('['), close = pattern.find(']');
    if (open == std::string::npos) return {pattern};
    const std::string inside = pattern.substr(open + 1, close - open - 1);
    std::vector<std::string> hosts;
    const std::vector<std::string> tails = expand_host(pattern.substr(close + 1), text);
    for (const std::string& range : split_outside_brackets(inside))
        for (const std::string& number : expand_range(range, text))
            for (const std::string& tail : tails) {
                if (hosts.size() >= kMostHosts) refuse_list(text);
                hosts.push_back(concat(pattern.substr(0, open), number, tail));
            }
    return hosts;
}

}  // namespace

std::vector<std::string> expand_host_list(const std::string& text) {
    std::vector<std::string> hosts;
    for (const std::string& pattern : split_outside_brackets(text))
        for (std::string& host : expand_host(pattern, text))
            hosts.push_back(std::move(host));
    return hosts;
}

std::vector<int> expand_task_counts(const std::string& text) {
    std::vector<int> counts;
    for (const std::string& part : split_outside_brackets(text)) {
        // "4(x2)": 4, twice.
        const size_t open = std::min(part.find("(x"), part.size());
        int count = 0, times = 1;
        const bool has_times = open < part.size();
        const std::string inside =
            has_times ? part.substr(open + 2, part.size() - open - 3) : "1";
        const bool is_good = parse_whole(part.substr(0, open), count) && count >= 0 &&
                             (!has_times || part.back() == ')') &&
                             parse_whole(inside, times) && times >= 1;
        if (!is_good || counts.size() + static_cast<size_t>(times) > kMostHosts)
            refuse_list(text);
        counts.insert(counts.end(), static_cast<size_t>(times), count);
    }
    return counts;
}

}  // namespace mini::dist
