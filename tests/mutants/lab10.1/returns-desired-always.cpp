// compare_set returns the desired value, whether it was set or not.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : *value == expected;
    if (matches) set(key, desired);
    if (matches) return desired;
    return desired;
