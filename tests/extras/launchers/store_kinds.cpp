// The stores of the extra.

#include "tests/distributed/store_kinds.hpp"

#include "libmini/distributed/store/tcp_store.hpp"
#include "libmini/distributed/store/tcp_store_server.hpp"
#include "libmini/extras/launchers/file_store.hpp"
#include "libmini/extras/launchers/prefix_store.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/folder.hpp"

namespace mini::dist::test {

struct SharedStore::Parts {
    mini::test::Folder folder;
    std::unique_ptr<TcpStoreServer> server;
};

std::vector<std::string> store_kinds() { return {"file", "prefix of tcp"}; }

SharedStore::SharedStore(const std::string& kind) : parts_(std::make_unique<Parts>()) {
    if (kind != "file")
        parts_->server =
            std::make_unique<TcpStoreServer>(Address{"127.0.0.1", 0}, Cookie{});
}

SharedStore::~SharedStore() = default;

std::shared_ptr<Store> SharedStore::client() {
    if (!parts_->server) return std::make_shared<FileStore>(parts_->folder / "store");
    return std::make_shared<PrefixStore>(
        "part", std::make_shared<TcpStore>(parts_->server->address(), Cookie{},
                                           deadline_after(kLong)));
}

}  // namespace mini::dist::test
