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
