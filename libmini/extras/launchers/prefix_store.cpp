#include "libmini/extras/launchers/prefix_store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mini::dist {

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix)), store_(std::move(store)) {
    set_timeout(store_->timeout());
}

void PrefixStore::set(const std::string& key, const std::string& value) {
    store_->set(full(key), value);
}

std::string PrefixStore::get(const std::string& key, Deadline deadline) {
    return store_->get(full(key), deadline);
}

int64_t PrefixStore::add(const std::string& key, int64_t amount) {
    return store_->add(full(key), amount);
}

std::string PrefixStore::compare_set(const std::string& key, const std::string& expected,
                                     const std::string& desired) {
    return store_->compare_set(full(key), expected, desired);
}

void PrefixStore::wait(const std::vector<std::string>& keys, Deadline deadline) {
    store_->wait(full(keys), deadline);
}

bool PrefixStore::check(const std::vector<std::string>& keys) {
    return store_->check(full(keys));
}

bool PrefixStore::delete_key(const std::string& key) {
    return store_->delete_key(full(key));
}

int64_t PrefixStore::num_keys() { return store_->num_keys(); }

std::string PrefixStore::full(const std::string& key) const {
    return concat(prefix_, "/", key);
}

std::vector<std::string> PrefixStore::full(const std::vector<std::string>& keys) const {
    std::vector<std::string> result;
    for (const std::string& key : keys) result.push_back(full(key));
    return result;
}

}  // namespace mini::dist
