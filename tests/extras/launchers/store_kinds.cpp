// The stores of the extra.

#include "tests/distributed/store_kinds.hpp"

#include <memory>
#include <string>
#include <vector>

#include "libmini/extras/launchers/file_store.hpp"
#include "tests/support/folder.hpp"

namespace mini::dist::test {

struct SharedStore::Parts {
    mini::test::Folder folder;
    std::string prefix;
};

std::vector<std::string> store_kinds() { return {"file", "file with a prefix"}; }

SharedStore::SharedStore(const std::string& kind) : parts_(std::make_unique<Parts>()) {
    if (kind != "file") parts_->prefix = "part/";
}

SharedStore::~SharedStore() = default;

std::shared_ptr<Store> SharedStore::client() {
    return std::make_shared<FileStore>(parts_->folder / "store", parts_->prefix);
}

}  // namespace mini::dist::test
