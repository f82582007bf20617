#include "libmini/dist/store.hpp"

#include <charconv>
#include <system_error>

#include "libmini/core/text.hpp"

namespace mini::dist {
namespace {

bool parse_number(const std::string& text, int64_t& number) {
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    return code == std::errc() && rest == end;
}

}  // namespace

void StoreTable::set(const std::string& key, std::string value) {
    const auto [place, is_new] = values_.try_emplace(key);
    bytes_ += (is_new ? key.size() : 0) + value.size() - place->second.size();
    place->second = std::move(value);
}

int64_t StoreTable::add(const std::string& key, int64_t amount) {
    const std::string* old = find(key);
    int64_t sum = 0;
    const bool is_number = old == nullptr || parse_number(*old, sum);
    MINI_CHECK(is_number && !__builtin_add_overflow(sum, amount, &sum),
               "add: the value of \"", key, "\" is no number, or too large");
    set(key, std::to_string(sum));
    return sum;
}

std::string StoreTable::compare_set(const std::string& key, const std::string& expected,
                                    const std::string& desired) {
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;
}

bool StoreTable::erase(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return false;
    bytes_ -= key.size() + found->second.size();
    values_.erase(found);
    return true;
}

void StoreTable::clear() {
    values_.clear();
    bytes_ = 0;
}

const std::string* StoreTable::find(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::string> StoreTable::missing(const std::vector<std::string>& keys) const {
    std::vector<std::string> result;
    for (const std::string& key : keys)
        if (find(key) == nullptr) result.push_back(key);
    return result;
}

void check_sizes(const std::string& key, const std::string& value) {
    MINI_CHECK(key.size() <= kMaxKeyBytes, "a key of ", key.size(),
               " bytes; the store takes up to ", kMaxKeyBytes);
    MINI_CHECK(value.size() <= kMaxValueBytes, "a value of ", value.size(),
               " bytes for \"", key, "\"; the store takes up to ", kMaxValueBytes);
}

void throw_missing(const std::string& place, const std::vector<std::string>& keys,
                   const std::vector<std::string>& missing) {
    throw Timeout(concat("missing in ", place, ": ", join(missing), " (",
                         keys.size() - missing.size(), " of ", keys.size(),
                         " keys are there)"));
}

}  // namespace mini::dist
