// The stores of the core.

#include "tests/distributed/store_kinds.hpp"

#include "libmini/distributed/store/hash_store.hpp"
#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "tests/distributed/support.hpp"

namespace mini::dist::test {

struct SharedStore::Parts {
    std::unique_ptr<TcpStoreServer> server;
    std::shared_ptr<HashStore> hash;
};

std::vector<std::string> store_kinds() { return {"hash", "tcp"}; }

SharedStore::SharedStore(const std::string& kind) : parts_(std::make_unique<Parts>()) {
    if (kind == "hash")
        parts_->hash = std::make_shared<HashStore>();
    else
        parts_->server =
            std::make_unique<TcpStoreServer>(Address{"127.0.0.1", 0}, Cookie{});
}

SharedStore::~SharedStore() = default;

std::shared_ptr<Store> SharedStore::client() {
    if (parts_->hash) return parts_->hash;
    return std::make_shared<TcpStore>(parts_->server->address(), Cookie{},
                                      deadline_after(kLong));
}

}  // namespace mini::dist::test
