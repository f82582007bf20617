// A missing key matches any expected value.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? true : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;
