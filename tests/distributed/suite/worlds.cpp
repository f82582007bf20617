#include "tests/distributed/suite/worlds.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "tests/distributed/support.hpp"

namespace mini::dist::suite {
namespace {

constexpr std::chrono::seconds kTimeout(60);
const std::string kEnvironment = "env:";

// Runs one rank on this thread: joins its default group, runs `body`, and leaves.
void run_rank(const Kind& kind, int rank, int world_size, int port,
              const std::function<void(ProcessGroup&)>& body) {
    init_process_group(
        {.backend = kind.backend,
         .init_method = concat("tcp://127.0.0.1:", port),
         .rank = rank,
         .world_size = world_size,
         .timeout = kTimeout,
         .medium = kind.name == "ring-tcp" ? Medium::kTcp : Medium::kAuto});
    body(*default_group());
    destroy_process_group();
}

}  // namespace

Kind::Kind(const std::string& name) : name(name), backend(name) {
    if (name.starts_with(kEnvironment)) {
        backend = name.substr(kEnvironment.size());
        is_process = true;
    }
    if (name == "ring-tcp" || name == "ring-shm") backend = "ring";
    ours = backend == "ring" || backend == "threads";
}

std::string Kind::unavailable() const {
    return is_available(backend) ? "" : concat("this build has no backend ", backend);
}

void with_world(const Kind& kind, int world_size,
                const std::function<void(ProcessGroup&)>& body) {
    if (kind.is_process) {
        init_process_group({.backend = kind.backend, .timeout = kTimeout});
        body(*default_group());
        return destroy_process_group();
    }
    if (kind.backend == "threads")
        return run_threads(world_size, body, {.timeout = kTimeout});
    const int port = test::free_port();
    for (const auto& failure : test::on_ranks(
             world_size, [&](int rank) { run_rank(kind, rank, world_size, port, body); }))
        if (failure) std::rethrow_exception(failure);
}

int launched_world_size(const Kind& kind) {
    init_process_group({.backend = kind.backend, .timeout = kTimeout});
    const int size = get_world_size();
    destroy_process_group();
    return size;
}

}  // namespace mini::dist::suite
