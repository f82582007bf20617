// --- digits-at-the-start
// The digits at the start of a value count as its number, as with strtoll.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : std::optional<int64_t>(std::strtoll(value->c_str(), nullptr, 10));
    MINI_CHECK(old.has_value(), "add: the value of \"", key, "\" is ", quoted(*value),
               ", which is not a number; give numbers a key of their own");
    int64_t sum = 0;
    MINI_CHECK(!__builtin_add_overflow(*old, amount, &sum), "add: the value of \"", key,
               "\" is ", *old, "; with ", amount, " it becomes too large");
    set(key, std::to_string(sum));
    return sum;

// --- empty-is-missing
// A key with the empty value counts as one with another value.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected && !expected.empty();
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;

// --- missing-matches-anything
// A missing key matches any expected value.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? true : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;

// --- missing-never-matches
// A missing key matches nothing.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? false : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;

// --- missing-returns-nothing
// A missing key that does not match returns the empty text.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? std::string() : *value;

// --- not-a-number-is-zero
// A value that is not a number counts as 0.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const int64_t old = value == nullptr ? 0 : parse_number(*value).value_or(0);
    int64_t sum = 0;
    MINI_CHECK(!__builtin_add_overflow(old, amount, &sum), "add: too large");
    set(key, std::to_string(sum));
    return sum;

// --- overflow-wraps
// A sum that is too large wraps around.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : parse_number(*value);
    MINI_CHECK(old.has_value(), "add: not a number: ", key);
    const auto sum = static_cast<int64_t>(static_cast<uint64_t>(*old) + static_cast<uint64_t>(amount));
    set(key, std::to_string(sum));
    return sum;

// --- returns-desired-always
// compare_set returns the desired value, whether it was set or not.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return desired;

// --- returns-the-old-number
// add returns the number before the call, as fetch_add does.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : parse_number(*value);
    MINI_CHECK(old.has_value(), "add: the value of \"", key, "\" is ", quoted(*value),
               ", which is not a number; give numbers a key of their own");
    int64_t sum = 0;
    MINI_CHECK(!__builtin_add_overflow(*old, amount, &sum), "add: the value of \"", key,
               "\" is ", *old, "; with ", amount, " it becomes too large");
    set(key, std::to_string(sum));
    return *old;

// --- sets-whenever-it-exists
// A key that exists is set, whatever its value is.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : true;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;

// --- stored-before-the-check
// The sum is stored before it is looked at.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : parse_number(*value);
    MINI_CHECK(old.has_value(), "add: not a number: ", key);
    int64_t sum = 0;
    const bool too_large = __builtin_add_overflow(*old, amount, &sum);
    set(key, std::to_string(sum));
    MINI_CHECK(!too_large, "add: too large: ", key);
    return sum;
