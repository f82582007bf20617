#include "libmini/distributed/transport/shared_all_reduce.hpp"

namespace mini::dist {
namespace {

SharedAllReduce registered;

}  // namespace

void use_shared_all_reduce(const SharedAllReduce& all_reduce) { registered = all_reduce; }

const SharedAllReduce& shared_all_reduce() { return registered; }

}  // namespace mini::dist
