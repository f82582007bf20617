// A missing key that does not match returns the empty text.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? std::string() : *value;
