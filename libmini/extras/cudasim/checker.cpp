#include "libmini/extras/cudasim/checker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/inspector.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/settings.hpp"

namespace mini::sim {

// Sets the inspector, until the end of the scope.
struct Session {
    // Checks accesses if `checks`, else counts them.
    explicit Session(bool checks)
        : inspector(checks ? &findings : nullptr, checks ? nullptr : &log) {
        installed_inspector = &inspector;
    }
    ~Session() { installed_inspector = before; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Findings findings;
    AccessLog log;
    Inspector inspector;
    Inspector* const before = installed_inspector;
};

namespace {

void wait_for_all_devices() {
    int before = 0;
    cudaGetDevice(&before);
    for (int device = 0; device < device_count(); ++device) {
        cudaSetDevice(device);
        cudaDeviceSynchronize();
    }
    cudaSetDevice(before);
}

void print_counts(const AccessLog& log) {
    std::vector<std::pair<std::string, size_t>> texts;  // and how many launches have it
    for (const LaunchCounters& each : log.launches()) {
        const std::string text = describe(each);
        const auto found =
            std::ranges::find(texts, text, &std::pair<std::string, size_t>::first);
        if (found == texts.end())
            texts.emplace_back(text, 1);
        else
            ++found->second;
    }
    for (const auto& [text, times] : texts)
        fmt::print(stderr, "{}{}", times == 1 ? "" : fmt::format("{} times ", times),
                   text);
}

// Checks the whole program if MINI_SIM_CHECK is 1, or counts it if MINI_SIM_COUNT is. Never
// freed.
const bool checks = setting("MINI_SIM_CHECK", 0, 0, 1) == 1;
Session* const whole_program =
    checks || setting("MINI_SIM_COUNT", 0, 0, 1) == 1 ? new Session(checks) : nullptr;

// Prints the reports. Runs when the program exits, after its other cleanup.
__attribute__((destructor)) void finish() {
    if (whole_program == nullptr) return;
    wait_for_all_devices();
    std::fflush(nullptr);  // the program's own output comes first
    if (!checks) return print_counts(whole_program->log);
    const auto reports = whole_program->findings.take();
    for (const Report& report : reports) fmt::print(stderr, "{}\n", describe(report));
    const auto mistakes =
        std::count_if(reports.begin(), reports.end(),
                      [](const Report& report) { return !is_note(report.mistake); });
    if (mistakes == 0) return;
    fmt::print(stderr, "MINI_SIM_CHECK: {} mistake{}\n", mistakes,
               mistakes == 1 ? "" : "s");
    std::fflush(nullptr);
    _exit(EXIT_FAILURE);
}

}  // namespace

Observation::Observation(bool checks) {
    wait_for_all_devices();
    session_ = std::make_unique<Session>(checks);
}

Observation::~Observation() { wait_for_all_devices(); }

std::vector<Report> Checker::reports() {
    wait_for_all_devices();
    return session_->findings.take();
}

const AccessLog& Counting::log() {
    wait_for_all_devices();
    return session_->log;
}

}  // namespace mini::sim
