#include "libmini/dist/rendezvous.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace mini::dist {
namespace {

// ---- what this rank was told

int parse_number(const std::string& text, const std::string& what) {
    int value = 0;
    const auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size())
        throw UsageError(concat(what, " is \"", text, "\", which is not a whole number"));
    return value;
}

std::string require_variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0')
        throw UsageError(
            concat("init_process_group with env://: environment variable ", name,
                   " expected, but not set; start the program with minirun, or "
                   "set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT"));
    return value;
}

int number_from_environment(const char* name) {
    return parse_number(require_variable(name), concat("environment variable ", name));
}

Meeting plan_from_environment(int rank, int world_size) {
    Meeting meeting;
    meeting.rank = rank >= 0 ? rank : number_from_environment("RANK");
    meeting.world_size =
        world_size >= 0 ? world_size : number_from_environment("WORLD_SIZE");
    const std::string host = require_variable("MASTER_ADDR");
    meeting.master = {host, number_from_environment("MASTER_PORT")};
    return meeting;
}

// The value of `name` in "rank=0&world_size=4".
std::optional<std::string> query_value(const std::string& query,
                                       const std::string& name) {
    for (size_t begin = 0; begin < query.size();) {
        const size_t end = std::min(query.find('&', begin), query.size());
        const std::string pair = query.substr(begin, end - begin);
        if (pair.compare(0, name.size() + 1, name + "=") == 0)
            return pair.substr(name.size() + 1);
        begin = end + 1;
    }
    return std::nullopt;
}

Meeting plan_from_url(const std::string& url, int rank, int world_size) {
    const size_t mark = std::min(url.find('?'), url.size());
    const std::string query = url.substr(std::min(mark + 1, url.size()));
    const auto number = [&](int given, const std::string& name) {
        if (given >= 0) return given;
        const auto text = query_value(query, name);
        if (!text)
            throw UsageError(
                concat("init_process_group with ", url, ": ", name,
                       " expected, but not given; set it in the options or write "
                       "tcp://host:port?rank=R&world_size=W"));
        return parse_number(*text, concat(name, " in ", url));
    };
    Meeting meeting;
    meeting.master = parse_address(url.substr(6, mark - 6));  // behind "tcp://"
    meeting.rank = number(rank, "rank");
    meeting.world_size = number(world_size, "world_size");
    return meeting;
}

void check_ranges(const Meeting& meeting) {
    if (meeting.world_size < 1)
        throw UsageError(
            concat("WORLD_SIZE is ", meeting.world_size, "; it must be 1 or more"));
    if (meeting.rank < 0 || meeting.rank >= meeting.world_size)
        throw UsageError(concat("RANK is ", meeting.rank, " but WORLD_SIZE is ",
                                meeting.world_size, "; ranks are 0 .. ",
                                meeting.world_size - 1));
    const int lowest = meeting.world_size == 1 ? 0 : 1;  // alone, any free port will do
    if (meeting.master.port < lowest || meeting.master.port > 65535)
        throw UsageError(concat("MASTER_PORT is ", meeting.master.port,
                                "; it must be in ", lowest, " .. 65535"));
}

// ---- meeting the others

const char* const kWorldSize = "rendezvous/world_size";
const char* const kJoined = "rendezvous/joined";
const char* const kVerdict = "rendezvous/verdict";

std::string seat(int rank) { return concat("rendezvous/rank/", rank); }

std::string this_process() {
    char host[256] = "?";
    ::gethostname(host, sizeof host - 1);
    return concat("process ", ::getpid(), " on ", host);
}

// The first verdict stands: who comes later does not change what others may have read.
void give_verdict(Store& store, const std::string& verdict) {
    if (store.add(concat(kVerdict, "/count"), 1) == 1) store.set(kVerdict, verdict);
}

// "" when this rank has taken its seat; else what is wrong.
std::string sign_in(Store& store, const Meeting& meeting, Deadline deadline) {
    const std::string me = this_process();
    const int rank = meeting.rank, world_size = meeting.world_size;
    if (rank == 0) store.set(kWorldSize, std::to_string(world_size));
    const std::string expected = store.get(kWorldSize, deadline);
    if (expected != std::to_string(world_size))
        return concat("rank ", rank, " (", me, ") was started with WORLD_SIZE ",
                      world_size, ", but rank 0 with ", expected,
                      "; start all ranks with the same");
    if (store.add(seat(rank), 1) > 1)
        return concat("two processes have RANK ", rank, ": ",
                      store.get(seat(rank) + "/who", deadline), " and ", me,
                      "; give each rank a number of its own");
    store.set(seat(rank) + "/who", me);
    return "";
}

[[noreturn]] void report_missing(Store& store, const Meeting& meeting) {
    std::string missing;
    int joined = 0;
    for (int rank = 0; rank < meeting.world_size; ++rank) {
        if (store.check(seat(rank)))
            ++joined;
        else
            missing += concat(missing.empty() ? "rank " : ", rank ", rank);
    }
    throw Timeout(concat("rendezvous at ", to_text(meeting.master), ": ", joined, " of ",
                         meeting.world_size, " joined; missing: ", missing,
                         "; were they started, and can they reach this address?"));
}

std::unique_ptr<TcpStore> connect_to_store(const Meeting& meeting, const Address& address,
                                           Deadline deadline) {
    try {
        return std::make_unique<TcpStore>(address, meeting.cookie, deadline);
    } catch (const Timeout& timeout) {
        throw Timeout(concat("rank ", meeting.rank, " found no rank 0 at ",
                             to_text(address), " (", timeout.what(),
                             "); is it running, and is MASTER_ADDR its address?"));
    }
}

}  // namespace

Meeting plan_meeting(const std::string& init_method, int rank, int world_size) {
    Meeting meeting;
    if (init_method == "env://")
        meeting = plan_from_environment(rank, world_size);
    else if (init_method.starts_with("tcp://"))
        meeting = plan_from_url(init_method, rank, world_size);
    else
        throw UsageError(concat("init_process_group: unknown init_method \"", init_method,
                                "\"; use env:// or tcp://host:port"));
    check_ranges(meeting);
    if (const char* digits = std::getenv("MINI_STORE_COOKIE"); digits && *digits)
        meeting.cookie = parse_cookie(digits);
    return meeting;
}

Rendezvous meet(const Meeting& meeting, Deadline deadline) {
    // Open the store on rank 0, and connect to it on every rank.
    Rendezvous result;
    Address address = meeting.master;
    if (meeting.rank == 0) {
        result.server = std::make_unique<TcpStoreServer>(address, meeting.cookie);
        address.port = result.server->address().port;
    }
    result.store = connect_to_store(meeting, address, deadline);
    Store& store = *result.store;

    // Sign in; the last one to do so declares the group complete.
    try {
        const std::string fault = sign_in(store, meeting, deadline);
        if (!fault.empty()) {
            give_verdict(store, fault);
            throw Error(fault);
        }
        if (store.add(kJoined, 1) == meeting.world_size) give_verdict(store, "ok");
        const std::string verdict = store.get(kVerdict, deadline);
        MINI_CHECK(verdict == "ok", verdict);
    } catch (const Timeout&) {
        report_missing(store, meeting);
    }
    return result;
}

}  // namespace mini::dist
