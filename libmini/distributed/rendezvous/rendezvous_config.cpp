// rendezvous_config(): reads the init method and the environment.

#include "libmini/distributed/rendezvous/rendezvous_config.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "libmini/core/log.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace mini::dist {
namespace {

[[noreturn]] void report_missing_variable(const std::string& name) {
    throw UsageError(
        "init_process_group with env://: environment variable ", name,
        " expected, but not set; start the program with minirun, or set RANK, "
        "WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

// ---- env://

// Returns a Lookup in the environment in which the options that are not -1 replace RANK
// and WORLD_SIZE.
Lookup environment_with(int rank, int world_size) {
    return [=](const std::string& name) {
        if (name == "RANK" && rank >= 0) return std::to_string(rank);
        if (name == "WORLD_SIZE" && world_size >= 0) return std::to_string(world_size);
        return environment(name);
    };
}

RankVariables who_am_i(int rank, int world_size) {
    if (rank >= 0 && world_size >= 0) {
        RankVariables given;
        given.rank = rank;
        given.world_size = world_size;
        given.source = "the options of init_process_group";
        return given;
    }
    const auto told = read_rank_variables(environment_with(rank, world_size));
    if (!told) report_missing_variable("RANK");
    RankVariables result = *told;
    if (rank >= 0) result.rank = rank;
    if (world_size >= 0) result.world_size = world_size;
    return result;
}

// Returns the port of our store: `port` (MASTER_PORT), except if torchrun itself runs a
// store with PyTorch's protocol on this port. Then our store uses another port: a hash of
// `port`, the job's id and the job's number of restarts.
int beside_torchruns_store(int port) {
    if (environment("TORCHELASTIC_USE_AGENT_STORE") != "True") return port;
    return port_from_text(concat(port, "/", environment("TORCHELASTIC_RUN_ID"), "/",
                                 environment("TORCHELASTIC_RESTART_COUNT")));
}

Address find_master(const RankVariables& who) {
    // torchrun, minirun, and a caller that gives rank and world size must set both
    // variables. For other launchers, derive a missing variable.
    const bool must_be_set =
        who.source.starts_with("torchrun") || who.source.starts_with("the options");
    const std::string host = environment("MASTER_ADDR"),
                      port = environment("MASTER_PORT");
    if (host.empty() && must_be_set) report_missing_variable("MASTER_ADDR");
    if (port.empty() && must_be_set) report_missing_variable("MASTER_PORT");
    Address master{host, 0};
    if (host.empty() || port.empty()) {
        RankVariables known = who;
        // If MASTER_ADDR is set, only the port is derived: treat all ranks as on one
        // host, so that derive_master() needs no list of hosts.
        if (!host.empty()) known.local_world_size = who.world_size;
        const auto derived = rank_source()->derive_master(environment, known,
                                                          concat("parent ", ::getppid()));
        if (host.empty()) master.host = derived.host;
        master.port = derived.port;
    }
    if (!port.empty())
        master.port = beside_torchruns_store(
            parse_integer(port, "environment variable MASTER_PORT"));
    return master;
}

RendezvousConfig plan_from_environment(int rank, int world_size) {
    const RankVariables who = who_am_i(rank, world_size);
    RendezvousConfig config;
    config.rank = who.rank;
    config.world_size = who.world_size;
    config.has_other_hosts =
        who.local_world_size > 0 && who.local_world_size < who.world_size;
    config.master = find_master(who);
    logging::info("rank ", who.rank, " of ", who.world_size, " by ", who.source,
                  "; the store is at ", to_text(config.master));
    return config;
}

// ---- tcp:// and file://

// Returns the value of `name` in a query such as "rank=0&world_size=4"; std::nullopt if
// the query has no such name.
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

RendezvousConfig plan_from_url(const std::string& url, int rank, int world_size) {
    const size_t mark = std::min(url.find('?'), url.size());
    const size_t path = url.find("://") + 3;
    const std::string place = url.substr(path, mark - path);
    const std::string query = url.substr(std::min(mark + 1, url.size()));
    const auto number = [&](int given, const std::string& name) {
        if (given >= 0) return given;
        const auto text = query_value(query, name);
        if (!text)
            throw UsageError("init_process_group with ", url, ": ", name,
                             " is not given; set it in the options or "
                             "write ",
                             url.substr(0, mark), "?rank=R&world_size=W");
        return parse_integer(*text, concat(name, " in ", url));
    };
    RendezvousConfig config;
    if (url.starts_with("tcp://"))
        config.master = parse_address(place);
    else if (place.size() > 1 && place.front() == '/' && place.back() != '/')
        config.file = place;
    else
        throw UsageError("init_process_group with ", url,
                         ": expected the absolute path of a file; write "
                         "file:///folder/name");
    config.rank = number(rank, "rank");
    config.world_size = number(world_size, "world_size");
    return config;
}

void check_ranges(const RendezvousConfig& config) {
    RankVariables given;
    given.rank = config.rank;
    given.world_size = config.world_size;
    check_ranges(given, "RANK", "WORLD_SIZE");
    if (!config.file.empty()) return;
    const int lowest = config.world_size == 1 ? 0 : 1;  // one rank: any free port
    if (config.master.port < lowest || config.master.port > 65535)
        throw UsageError("MASTER_PORT is ", config.master.port, "; it must be in ",
                         lowest, " .. 65535");
}

// Returns the job's id and its number of restarts, because torchrun keeps the id when it
// restarts the ranks; "" if the job has no id (torchrun then sets the id "none").
std::string run_id() {
    std::string id = environment("MINI_RUN_ID");
    if (id.empty()) id = environment("TORCHELASTIC_RUN_ID");
    if (id.empty() || id == "none") return "";
    return concat(id, "/", environment("TORCHELASTIC_RESTART_COUNT"));
}

}  // namespace

RendezvousConfig rendezvous_config(const std::string& init_method, int rank,
                                   int world_size) {
    RendezvousConfig config;
    if (init_method == "env://")
        config = plan_from_environment(rank, world_size);
    else if (init_method.starts_with("tcp://") || init_method.starts_with("file://"))
        config = plan_from_url(init_method, rank, world_size);
    else
        throw UsageError("init_process_group: unknown init_method \"", init_method,
                         "\"; use env://, tcp://host:port or file:///path");
    check_ranges(config);
    config.run_id = run_id();
    config.advertise = environment("MINI_ADVERTISE_ADDR");
    const std::string digits = environment("MINI_STORE_COOKIE");
    if (!digits.empty()) config.cookie = parse_cookie(digits);
    return config;
}

}  // namespace mini::dist
