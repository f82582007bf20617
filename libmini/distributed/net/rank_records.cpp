#include "libmini/distributed/net/rank_records.hpp"

namespace mini::dist {
namespace {

RankRecords registered;

}  // namespace

void use_rank_records(const RankRecords& records) { registered = records; }

const RankRecords& rank_records() { return registered; }

}  // namespace mini::dist
