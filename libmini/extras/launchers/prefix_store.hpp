// A part of another store: every key gets a prefix, so that two users of one store (two
// runs, two groups) cannot read or overwrite each other's keys.
//
//     PrefixStore("job7", store).set("rank/0", "here")      sets "job7/rank/0" in store

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/store/store.hpp"

namespace mini::dist {

/// As thread-safe as the underlying store (`torch.distributed.PrefixStore`).
class PrefixStore : public Store {
  public:
    /// Starts with the timeout() of `store`. REQUIRES: `store` is not null.
    PrefixStore(std::string prefix, std::shared_ptr<Store> store);

    using Store::check;
    using Store::get;
    using Store::wait;

    void set(const std::string& key, const std::string& value) override;
    std::string get(const std::string& key, Deadline deadline) override;
    int64_t add(const std::string& key, int64_t amount) override;
    std::string compare_set(const std::string& key, const std::string& expected,
                            const std::string& desired) override;
    void wait(const std::vector<std::string>& keys, Deadline deadline) override;
    bool check(const std::vector<std::string>& keys) override;
    bool delete_key(const std::string& key) override;
    /// Returns the number of all keys of the underlying store.
    int64_t num_keys() override;

  private:
    std::string full(const std::string& key) const;
    std::vector<std::string> full(const std::vector<std::string>& keys) const;

    std::string prefix_;
    std::shared_ptr<Store> store_;
};

}  // namespace mini::dist
