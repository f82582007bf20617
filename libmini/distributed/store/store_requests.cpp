#include "libmini/distributed/store/store_requests.hpp"

namespace mini::dist {
namespace {

using protocol::Command;
using protocol::Request;

void check_room(const Request& request, const StoreTable& table,
                const StoreLimits& limits) {
    MINI_CHECK(table.find(request.key) != nullptr || table.size() < limits.keys,
               "the store is full: it has ", table.size(), " keys");
    MINI_CHECK(
        table.bytes() + request.key.size() + request.value.size() <= limits.table_bytes(),
        "the store is full: it holds ", table.bytes(), " bytes and takes up to ",
        limits.table_bytes());
}

}  // namespace

std::string carry_out(Request request, StoreTable& table, const StoreLimits& limits) {
    const std::string& key = request.key;
    switch (request.command) {
        case Command::kCheck: return table.find(key) != nullptr ? "1" : "0";
        case Command::kErase: return table.erase(key) ? "1" : "0";
        case Command::kNumKeys: return std::to_string(table.size());
        case Command::kSet:
            check_room(request, table, limits);
            table.set(key, std::move(request.value));
            return "";
        case Command::kAdd: {
            check_room(request, table, limits);
            const auto amount = parse_number(request.value);
            MINI_CHECK(amount.has_value(), "add to \"", key,
                       "\": the amount is not a number");
            return std::to_string(table.add(key, *amount));
        }
        case Command::kCompareSet: {
            check_room(request, table, limits);
            std::string expected, desired;
            MINI_CHECK(protocol::unpack_pair(request.value, expected, desired) &&
                           desired.size() <= kMaxValueBytes,
                       "compare_set: no two values");
            return table.compare_set(key, expected, desired);
        }
        case Command::kGet:
        case Command::kWait: break;
    }
    throw Error("carry_out: a get or a wait");
}

}  // namespace mini::dist
