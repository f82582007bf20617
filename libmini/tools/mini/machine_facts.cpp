#include "libmini/tools/mini/machine_facts.hpp"

#include <dlfcn.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <sstream>

#include "libmini/core/machine.hpp"
#include "libmini/distributed/backends/registry.hpp"
#include "libmini/distributed/net/deadline.hpp"
#include "libmini/distributed/net/socket.hpp"

namespace mini::tools {
namespace {

constexpr auto kLoopbackTimeout = std::chrono::seconds(5);

int usable_cores() {
    cpu_set_t set;
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Returns a limit of this process; `unlimited` if there is none.
int64_t limit(decltype(RLIMIT_NOFILE) resource, int64_t unlimited) {
    rlimit found{};
    ::getrlimit(resource, &found);
    if (found.rlim_cur == RLIM_INFINITY) return unlimited;
    return static_cast<int64_t>(found.rlim_cur);
}

std::optional<int64_t> free_bytes(const char* folder) {
    struct statvfs found {};
    if (::statvfs(folder, &found) != 0) return std::nullopt;
    return static_cast<int64_t>(found.f_bavail * found.f_frsize);
}

// Returns the path that a shell finds for `program`, or "".
std::string find_in_path(const std::string& program) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string file = concat(folder.empty() ? "." : folder, "/", program);
        if (::access(file.c_str(), X_OK) == 0) return file;
    }
    return "";
}

// Calls a function of NVIDIA's driver, which only machines with GPUs have. Not linked, so
// that a build for the simulator reports their GPUs too. Returns 0 if the call fails.
int ask_driver(void* driver, const char* function) {
    int answer = 0;
    const auto call = reinterpret_cast<int (*)(int*)>(::dlsym(driver, function));
    return call != nullptr && call(&answer) == 0 ? answer : 0;
}

void read_driver(MachineFacts& facts) {
    void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) return;
    facts.driver = ask_driver(driver, "cuDriverGetVersion");
    const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
    if (init != nullptr && init(0) == 0)
        facts.gpus = ask_driver(driver, "cuDeviceGetCount");
}

std::string address_of(const std::string& host) {
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return "";
    std::array<char, NI_MAXHOST> text{};
    ::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST);
    ::freeaddrinfo(found);
    return text.data();
}

// Returns "" if a free port of 127.0.0.1 listens and connects, else the error.
std::string loopback_error() {
    try {
        const dist::Socket listener = dist::listen_on({"127.0.0.1", 0});
        dist::connect_to(dist::local_address(listener),
                         dist::deadline_after(kLoopbackTimeout));
        return "";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

MachineFacts machine_facts() {
    MachineFacts facts;
    facts.cores = usable_cores();
    facts.device_code = MINI_DEVICE_CODE;
    facts.toolkit = MINI_CUDA_TOOLKIT;
    read_driver(facts);
    for (const dist::BackendEntry& backend : dist::known_backends())
        facts.backends.push_back({backend.name, backend.why_not});
    facts.mpirun = find_in_path("mpirun");
    facts.shm_free = free_bytes("/dev/shm");
    facts.open_files = limit(RLIMIT_NOFILE, std::numeric_limits<int64_t>::max());
    facts.locked_memory = limit(RLIMIT_MEMLOCK, -1);
    facts.host = host_name();
    facts.address = address_of(facts.host);
    facts.loopback_error = loopback_error();
    return facts;
}

}  // namespace mini::tools
