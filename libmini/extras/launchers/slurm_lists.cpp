#include "libmini/extras/launchers/slurm_lists.hpp"

#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

[[noreturn]] void refuse(const std::string& list) {
    constexpr size_t kQuotedBytes = 80;
    const bool is_long = list.size() > kQuotedBytes;
    throw UsageError(concat('"', list.substr(0, kQuotedBytes), is_long ? "...\"" : "\"",
                            " is not a list in Slurm's notation, such as "
                            "node[01-03,7],gpu5 or 4(x2),3"));
}

}  // namespace

FirstHost first_host(const std::string& list) {
    FirstHost host;
    size_t i = 0;
    while (i < list.size() && list[i] != ',') {
        if (list[i] == ']') refuse(list);
        if (list[i] != '[') {
            host.name += list[i++];
            continue;
        }
        // Take the first number in the brackets.
        const size_t close = list.find(']', i);
        if (close == list.npos) refuse(list);
        const std::string numbers = list.substr(i + 1, close - i - 1);
        const size_t end = numbers.find_first_not_of("0123456789");
        const bool is_one = end == numbers.npos;
        if (numbers.empty() || end == 0) refuse(list);
        if (!is_one && numbers[end] != '-' && numbers[end] != ',') refuse(list);
        host.name += numbers.substr(0, end);
        host.is_only = host.is_only && is_one;
        i = close + 1;
    }
    if (host.name.empty()) refuse(list);
    host.is_only = host.is_only && i == list.size();
    return host;
}

int task_count(const std::string& list, int node) {
    std::string_view rest = list;
    const auto take_number = [&] {
        int number = -1;
        const char* const begin = rest.data();
        const auto [end, code] = std::from_chars(begin, begin + rest.size(), number);
        if (code != std::errc() || number < 0) refuse(list);
        rest.remove_prefix(static_cast<size_t>(end - begin));
        return number;
    };
    const auto take = [&](std::string_view text) {
        if (!rest.starts_with(text)) return false;
        rest.remove_prefix(text.size());
        return true;
    };
    do {
        const int count = take_number();
        int nodes = 1;
        if (take("(x")) {
            nodes = take_number();
            if (nodes == 0 || !take(")")) refuse(list);
        }
        if (node < nodes) return count;
        node -= nodes;
    } while (take(","));
    if (!rest.empty()) refuse(list);
    return -1;
}

}  // namespace mini::dist
