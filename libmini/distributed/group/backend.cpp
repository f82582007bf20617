#include "libmini/distributed/group/backend.hpp"

#include "libmini/core/error.hpp"

namespace mini::dist {

std::unique_ptr<Backend> Backend::split(const std::vector<int>& /*ranks*/,
                                        ProcessGroup& /*parent*/) {
    throw NotImplemented(concat("backend ", name(), " has no subgroups"));
}

}  // namespace mini::dist
