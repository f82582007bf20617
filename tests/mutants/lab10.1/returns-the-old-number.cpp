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
