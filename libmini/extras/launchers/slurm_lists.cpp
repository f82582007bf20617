#include "libmini/extras/launchers/slurm_lists.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

constexpr size_t kQuotedBytes = 80;  // of a list, quoted in an error message

std::string quoted(std::string_view text) {
    const bool is_long = text.size() > kQuotedBytes;
    return concat('"', text.substr(0, kQuotedBytes), is_long ? "...\"" : "\"");
}

// The text of a list, for error messages.
class List {
  public:
    explicit List(std::string_view text) : text_(text) {}

    std::string_view text() const { return text_; }

    [[noreturn]] void refuse(const std::string& reason) const {
        throw UsageError(concat(quoted(text_),
                                " is not a list in Slurm's notation, such as "
                                "node[01-03,7],gpu5 or 4(x2),3: ",
                                reason));
    }

    void check_count(uint64_t count) const {
        if (count > kMaxSlurmEntries)
            refuse(concat("it has more than ", kMaxSlurmEntries, " entries"));
    }

  private:
    const std::string_view text_;
};

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && rest == end;
}

// Splits the text at the commas outside of brackets: "a[1,2],b" is "a[1,2]" and "b".
std::vector<std::string_view> split_outside_brackets(std::string_view text,
                                                     const List& list) {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    int depth = 0;
    const auto end_part = [&](size_t end) {
        if (begin == end) list.refuse("an entry is empty");
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    };
    for (size_t i = 0; i < text.size(); ++i) {
        depth += (text[i] == '[') - (text[i] == ']');
        if (depth < 0 || depth > 1) list.refuse("its brackets do not match");
        if (text[i] == ',' && depth == 0) end_part(i);
    }
    if (depth != 0) list.refuse("its brackets do not match");
    end_part(text.size());
    return parts;
}

// Appends the numbers of a range: 01, 02 and 03 for "01-03". Keeps leading zeros.
void expand_range(std::string_view range, const List& list,
                  std::vector<std::string>& numbers) {
    const size_t dash = std::min(range.find('-'), range.size());
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash < range.size() ? range.substr(dash + 1) : first;
    uint64_t begin = 0, end = 0;
    if (!parse_whole(first, begin) || !parse_whole(last, end) || begin > end)
        list.refuse(concat(quoted(range), " is neither a number nor a range"));
    if (first.size() > kMaxHostBytes)
        list.refuse(concat("a number has ", first.size(), " digits"));

    // Check the difference first, because the difference plus 1 could overflow.
    list.check_count(end - begin);
    list.check_count(numbers.size() + (end - begin) + 1);
    for (uint64_t i = 0; i <= end - begin; ++i) {
        const std::string digits = std::to_string(begin + i);
        const size_t width = std::max(first.size(), digits.size());
        numbers.push_back(std::string(width - digits.size(), '0') + digits);
    }
}

// Returns each of `names` followed by each of `endings`; the endings vary fastest.
std::vector<std::string> combine(const std::vector<std::string>& names,
                                 const std::vector<std::string>& endings,
                                 const List& list) {
    list.check_count(names.size() * endings.size());
    std::vector<std::string> longer;
    for (const std::string& name : names)
        for (const std::string& ending : endings) {
            longer.push_back(name + ending);
            if (longer.back().size() > kMaxHostBytes)
                list.refuse(
                    concat("a host's name has more than ", kMaxHostBytes, " bytes"));
        }
    return longer;
}

// Expands "rack[1-2]n[1,3]x" to rack1n1x, rack1n3x, rack2n1x, rack2n3x.
std::vector<std::string> expand_host(std::string_view pattern, const List& list) {
    std::vector<std::string> names(1);
    while (!pattern.empty()) {
        const size_t open = std::min(pattern.find('['), pattern.size());
        names = combine(names, {std::string(pattern.substr(0, open))}, list);
        pattern.remove_prefix(open);
        if (pattern.empty()) break;
        const size_t close = pattern.find(']');
        std::vector<std::string> numbers;
        for (const auto range :
             split_outside_brackets(pattern.substr(1, close - 1), list))
            expand_range(range, list, numbers);
        names = combine(names, numbers, list);
        pattern.remove_prefix(close + 1);
    }
    return names;
}

}  // namespace

std::vector<std::string> expand_host_list(const std::string& text) {
    const List list(text);
    std::vector<std::string> hosts;
    for (const std::string_view pattern : split_outside_brackets(text, list)) {
        std::vector<std::string> more = expand_host(pattern, list);
        list.check_count(hosts.size() + more.size());
        std::move(more.begin(), more.end(), std::back_inserter(hosts));
    }
    return hosts;
}

std::vector<int> expand_task_counts(const std::string& text) {
    const List list(text);
    std::vector<int> counts;
    for (const std::string_view part : split_outside_brackets(text, list)) {
        // "4(x2)" is the count 4, twice.
        const size_t open = std::min(part.find("(x"), part.size());
        const bool is_alone = open == part.size();
        std::string_view inside = is_alone ? "1" : part.substr(open + 2);
        if (!is_alone && inside.ends_with(')')) inside.remove_suffix(1);
        int count = 0;
        uint64_t times = 1;
        if (!parse_whole(part.substr(0, open), count) || count < 0 ||
            (!is_alone && part.back() != ')') || !parse_whole(inside, times) || times < 1)
            list.refuse(concat(quoted(part), " is not a count of tasks"));
        list.check_count(times);
        list.check_count(counts.size() + times);
        counts.insert(counts.end(), times, count);
    }
    return counts;
}

}  // namespace mini::dist
