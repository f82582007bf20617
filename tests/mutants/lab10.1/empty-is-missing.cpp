// A key with the empty value counts as one with another value.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected && !expected.empty();
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;
