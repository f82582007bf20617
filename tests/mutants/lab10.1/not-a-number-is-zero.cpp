// A value that is not a number counts as 0.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const int64_t old = value == nullptr ? 0 : parse_number(*value).value_or(0);
    int64_t sum = 0;
    MINI_CHECK(!__builtin_add_overflow(old, amount, &sum), "add: too large");
    set(key, std::to_string(sum));
    return sum;
