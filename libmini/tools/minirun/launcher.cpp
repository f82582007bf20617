#include "libmini/tools/minirun/launcher.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/core/temporary_folder.hpp"
#include "libmini/distributed/net/socket.hpp"
#include "libmini/io/sha256.hpp"
#include "libmini/program/progress.hpp"
#include "libmini/tools/minirun/cleaner.hpp"

namespace mini::tools {
namespace {

constexpr size_t kCookieDigits = 32;
constexpr size_t kLeastSecret = 12;  // characters; a shorter --rdzv-id can be guessed

// Returns 32 hexadecimal digits derived from `secret`, which do not reveal the secret.
std::string digits_from(const std::string& purpose, const std::string& secret) {
    const std::string text = concat("minirun ", purpose, ": ", secret);
    return io::sha256_hex(std::as_bytes(std::span(text))).substr(0, kCookieDigits);
}

// Sets the cookie and the run id of a job on several nodes: both are equal on all nodes.
void name_shared_job(const Options& options, dist::Job& job) {
    job.cookie = environment("MINI_STORE_COOKIE");
    if (!job.cookie.empty() &&
        (job.cookie.size() != kCookieDigits ||
         job.cookie.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos))
        throw UsageError(
            "MINI_STORE_COOKIE must be 32 hexadecimal digits, the same on "
            "all nodes");
    if (job.cookie.empty() && options.rdzv_id.empty())
        throw UsageError(
            "the nodes need a common secret: give each the same "
            "--rdzv-id, or the same MINI_STORE_COOKIE");
    if (job.cookie.empty()) job.cookie = digits_from("cookie", options.rdzv_id);
    job.run_id = digits_from("run", job.cookie).substr(0, 16);
}

// The folder of the flight recorder's dumps.
struct FlightFolder {
    std::string path = {};          // "": there is none
    std::string private_path = {};  // the same if minirun has made it; else ""
    std::string why_not = {};       // why there is none
};

// Uses the folder `wanted`; without one makes a private folder. Without a private folder
// the job runs, but is not recorded.
FlightFolder open_flight_folder(const std::string& wanted) {
    if (wanted.empty()) {
        try {
            const std::string path = new_private_folder("minirun-flight");
            return {.path = path, .private_path = path};
        } catch (const Error& error) {
            return {.why_not = error.what()};
        }
    }
    std::error_code failure;
    std::filesystem::create_directories(wanted, failure);
    if (failure)
        throw Error("cannot create --flight-dir ", wanted, ": ", failure.message());
    return {.path = std::filesystem::absolute(wanted).string()};
}

// Chooses the port on which rank 0 will serve the store, if it is still 0. Returns a
// socket that reserves the chosen port, so that no other process gets it before rank 0
// listens or after rank 0 has ended. Throws Error if rank 0 cannot listen at the address.
dist::Socket choose_port(dist::Job& job) {
    const bool is_given = job.master_port != 0;
    try {
        dist::Socket socket = dist::reserve_port({job.master_addr, job.master_port});
        job.master_port = dist::local_address(socket).port;
        return is_given ? dist::Socket() : std::move(socket);  // rank 0 binds it
    } catch (const Timeout&) {
        if (is_given) return {};  // rank 0 waits until the name has an address
        throw;
    }
}

// Returns what minirun tells the user before the first attempt, a line each.
std::vector<std::string> notes_for(const Options& options, const std::string& why_not) {
    std::vector<std::string> notes = options.notes;
    if (options.nodes > 1 && options.node_rank == 0 &&
        environment("MINI_STORE_COOKIE").empty() && options.rdzv_id.size() < kLeastSecret)
        notes.emplace_back(
            "warning: --rdzv-id is easy to guess, and ps shows it to every user of the "
            "machine; set MINI_STORE_COOKIE=$(openssl rand -hex 16), the same on all "
            "nodes, instead");
    if (options.ranks > 1 && stderr_is_terminal() &&
        environment("OMP_NUM_THREADS").empty())
        notes.emplace_back(
            "OMP_NUM_THREADS=1 for each rank, so that the ranks do not compete for "
            "cores; set it to override");
    if (!why_not.empty()) notes.push_back(concat("no flight recorder: ", why_not));
    return notes;
}

void say(const std::string& note) { fmt::print(stderr, "minirun: {}\n", note); }

Outcome run_once(const Options& options, dist::Job& job, const Cleaner& cleaner) {
    dist::Socket port;
    job.master_port = options.master_port;
    if (job.node_rank == 0) port = choose_port(job);  // only node 0 owns the address
    if (job.restart_count > 0)
        say(fmt::format("restarting all ranks: restart {} of {}, run {}, port {}",
                        job.restart_count, job.max_restarts, job.run_id,
                        job.master_port));
    return Supervisor(options, job, cleaner).run();
}

}  // namespace

dist::Job plan_job(const Options& options) {
    dist::Job job{.world_size = options.world_size(),
                  .master_addr = options.master_addr,
                  .master_port = options.master_port,
                  .run_id = random_hex(16),
                  .cookie = random_hex(kCookieDigits),
                  .progress = stderr_is_terminal() ? "bar" : "plain",
                  .nodes = options.nodes,
                  .node_rank = options.node_rank,
                  .max_restarts = options.max_restarts};
    if (options.nodes > 1) name_shared_job(options, job);
    job.log_name = job.run_id;
    return job;
}

int run_with_restarts(dist::Job job, const std::function<Outcome(dist::Job& job)>& run) {
    while (true) {
        const Outcome outcome = run(job);
        const bool again =
            outcome.may_be_restarted && job.restart_count < job.max_restarts;
        if (!again) return outcome.code;
        ++job.restart_count;
        job.run_id = concat(job.log_name, ".", job.restart_count);
    }
}

int launch(const Options& options) {
    dist::Job job = plan_job(options);
    const FlightFolder flights = open_flight_folder(
        options.flight_dir.empty() ? environment("MINI_FLIGHT_DIR") : options.flight_dir);
    const Cleaner cleaner(flights.private_path);
    job.flight_dir = flights.path;
    for (const std::string& note : notes_for(options, flights.why_not)) say(note);
    return run_with_restarts(
        job, [&](dist::Job& attempt) { return run_once(options, attempt, cleaner); });
}

}  // namespace mini::tools
