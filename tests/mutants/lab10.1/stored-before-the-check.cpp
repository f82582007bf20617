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
