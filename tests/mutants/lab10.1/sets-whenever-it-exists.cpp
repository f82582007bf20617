// A key that exists is set, whatever its value is.
// region: libmini/distributed/store/store.cpp 2
    const std::string* value = find(key);
    const bool matches = value == nullptr ? expected.empty() : true;
    if (matches) set(key, desired);
    if (matches) return desired;
    return value == nullptr ? expected : *value;
