#include "libmini/extras/launchers/launchers.hpp"

#include <memory>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/extras/launchers/file_store.hpp"
#include "libmini/extras/launchers/launcher_variables.hpp"

namespace mini::dist {
namespace {

std::unique_ptr<Store> open_file(const std::string& path, const std::string& run_id) {
    return std::make_unique<FileStore>(path, concat("run/", run_id, "/"));
}

}  // namespace

void use_launchers() {
    register_rank_source(
        {.read = read_launchers, .derive_master = derive_master, .open_file = open_file});
}

}  // namespace mini::dist
