// A sum that is too large wraps around.
// region: libmini/distributed/store/store.cpp 1
    const std::string* const value = find(key);
    const auto old = value == nullptr ? 0 : parse_number(*value);
    MINI_CHECK(old.has_value(), "add: not a number: ", key);
    const auto sum = static_cast<int64_t>(static_cast<uint64_t>(*old) + static_cast<uint64_t>(amount));
    set(key, std::to_string(sum));
    return sum;
