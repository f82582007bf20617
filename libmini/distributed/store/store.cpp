#include "libmini/distributed/store/store.hpp"

#include <charconv>
#include <system_error>

#include "libmini/core/text.hpp"

namespace mini::dist {
namespace {

// Returns a value in quotes for a message, truncated to 40 bytes.
std::string quoted(const std::string& value) {
    constexpr size_t kShown = 40;
    return concat('"', value.substr(0, kShown), value.size() > kShown ? "...\"" : "\"");
}

}  // namespace

void StoreTable::set(const std::string& key, std::string value) {
    values_[key] = std::move(value);
}

int64_t StoreTable::add(const std::string& key, int64_t amount) {
    // [lab10.1] Add to the number of the key, or leave it unchanged and throw.
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : parse_number(*value);
    MINI_CHECK(old.has_value(), "add: the value of \"", key, "\" is ", quoted(*value),
               ", which is not a number; give numbers a key of their own");
    int64_t sum = 0;
    MINI_CHECK(!__builtin_add_overflow(*old, amount, &sum), "add: the value of \"", key,
               "\" is ", *old, "; with ", amount, " it becomes too large");
    set(key, std::to_string(sum));
    return sum;
    // [lab10.1]
}

std::string StoreTable::compare_set(const std::string& key, const std::string& expected,
                                    const std::string& desired) {
    // [lab10.1] Set the key if its value is the expected one, and return its value.
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;
    // [lab10.1]
}

bool StoreTable::erase(const std::string& key) { return values_.erase(key) > 0; }

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

std::optional<int64_t> parse_number(const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || rest != end) return std::nullopt;
    return number;
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
