#include "libmini/distributed/store/store.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::dist {

using protocol::Command;

namespace {

constexpr size_t kShown = 40;  // bytes of a value in a message

// How long to wait for the reply to a get whose key is set.
constexpr std::chrono::seconds kReplyTime(30);

// Returns a value in quotes for a message, truncated to kShown bytes.
std::string quoted(const std::string& value) {
    return concat('"', value.substr(0, kShown), value.size() > kShown ? "...\"" : "\"");
}

}  // namespace

// ---- the calls of all stores

void Store::set(const std::string& key, const std::string& value) {
    check_sizes(key, value);
    ask({.command = Command::kSet, .key = key, .value = value});
}

std::string Store::get(const std::string& key, Deadline deadline) {
    try {
        return ask({.command = Command::kGet, .key = key}, deadline);
    } catch (const Timeout&) {
        // The key may be set, and only the reply may be late.
        if (!check(key)) throw_missing(place(), {key}, {key});
        return ask({.command = Command::kGet, .key = key}, deadline_after(kReplyTime));
    }
}

int64_t Store::add(const std::string& key, int64_t amount) {
    return ask_number(
        {.command = Command::kAdd, .key = key, .value = std::to_string(amount)});
}

std::string Store::compare_set(const std::string& key, const std::string& expected,
                               const std::string& desired) {
    check_sizes(key, expected);
    check_sizes(key, desired);
    return ask({.command = Command::kCompareSet,
                .key = key,
                .value = desired,
                .expected = expected});
}

void Store::wait(const std::vector<std::string>& keys, Deadline deadline) {
    for (size_t i = 0; i < keys.size(); ++i) {
        try {
            ask({.command = Command::kWait, .key = keys[i]}, deadline);
        } catch (const Timeout&) {
            // The keys before keys[i] exist; find the missing keys among the others.
            std::vector<std::string> missing;
            for (size_t j = i; j < keys.size(); ++j)
                if (!check(keys[j])) missing.push_back(keys[j]);
            if (missing.empty()) return;
            throw_missing(place(), keys, missing);
        }
    }
}

bool Store::check(const std::vector<std::string>& keys) {
    for (const std::string& key : keys)
        if (ask({.command = Command::kCheck, .key = key}) != "1") return false;
    return true;
}

bool Store::delete_key(const std::string& key) {
    return ask({.command = Command::kErase, .key = key}) == "1";
}

int64_t Store::num_keys() { return ask_number({.command = Command::kNumKeys}); }

int64_t Store::ask_number(protocol::Request request) {
    const std::string key = request.key;
    check_sizes(key, "");
    const std::string answer = ask(std::move(request));
    const auto number = parse_number(answer);
    MINI_CHECK(number.has_value(), place(), " answered \"", answer.substr(0, kShown),
               "\" where a number was expected (key \"", key, "\")");
    return *number;
}

std::string carry_out(protocol::Request request, StoreTable& table) {
    const std::string& key = request.key;
    switch (request.command) {
        case Command::kCheck: return table.find(key) != nullptr ? "1" : "0";
        case Command::kErase: return table.erase(key) ? "1" : "0";
        case Command::kNumKeys: return std::to_string(table.size());
        case Command::kSet: table.set(key, std::move(request.value)); return "";
        case Command::kAdd: {
            const auto amount = parse_number(request.value);
            MINI_CHECK(amount.has_value(), "add to \"", key,
                       "\": the amount is not a number");
            return std::to_string(table.add(key, *amount));
        }
        case Command::kCompareSet:
            return table.compare_set(key, request.expected, request.value);
        case Command::kGet:
        case Command::kWait: break;
    }
    throw Error("carry_out: a get or a wait");
}

// ---- the dictionary

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
