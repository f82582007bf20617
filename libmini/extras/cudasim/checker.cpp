#include "libmini/extras/cudasim/checker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/inspector.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/report.hpp"
#include "libmini/extras/cudasim/stream.hpp"

namespace mini::sim {

namespace {

void wait_for_all_devices() {
    Machine::Lock lock = Machine::instance().lock();
    for (int device = 0; device < device_count(); ++device)
        Machine::instance().wait_device(lock, device);
}

void print_counts(const AccessLog& log) {
    std::vector<std::string> texts;
    std::map<std::string, size_t> times;  // how many launches have a text
    for (const LaunchCounters& each : log.launches())
        if (++times[describe(each)] == 1) texts.push_back(describe(each));
    for (const std::string& text : texts)
        fmt::print(stderr, "{}{}",
                   times[text] == 1 ? "" : fmt::format("{} times ", times[text]), text);
}

// Checks the whole program if MINI_SIM_CHECK is 1, or counts it if MINI_SIM_COUNT is. Never
// freed.
const bool checks = setting("MINI_SIM_CHECK", 0, 0, 1) == 1;
extern Inspector* const whole_program;

// Prints the reports; returns the number of mistakes.
int64_t print_reports() {
    const auto reports = whole_program->findings_.take();
    for (const Report& report : reports) fmt::print(stderr, "{}\n", describe(report));
    const auto mistakes =
        std::count_if(reports.begin(), reports.end(),
                      [](const Report& report) { return !is_note(report.mistake); });
    if (mistakes > 0)
        fmt::print(stderr, "MINI_SIM_CHECK: {} mistake{}\n", mistakes,
                   mistakes == 1 ? "" : "s");
    std::fflush(nullptr);
    return mistakes;
}

// Prints the reports of a program that a signal ends. Its memory may be broken: if this takes
// long, it ends nevertheless.
void on_end(int signal) {
    std::signal(signal, SIG_DFL);
    alarm(20);
    installed_inspector = nullptr;
    if (whole_program != nullptr) print_reports();
    raise(signal);
}

Inspector* const whole_program = [] {
    if (checks)  // before the inspector, which handles faults of its own
        for (const int each : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT})
            std::signal(each, on_end);
    const bool counts = setting("MINI_SIM_COUNT", 0, 0, 1) == 1;
    return checks || counts ? new Inspector(checks) : nullptr;
}();

// Prints the reports. Runs when the program exits, after its other cleanup.
__attribute__((destructor)) void finish() {
    if (whole_program == nullptr) return;
    wait_for_all_devices();
    std::fflush(nullptr);  // the program's own output comes first
    if (!checks) return print_counts(whole_program->log_);
    if (print_reports() > 0) _exit(EXIT_FAILURE);
}

}  // namespace

Observation::Observation(bool checks) {
    wait_for_all_devices();
    inspector_ = std::make_unique<Inspector>(checks);
}

Observation::~Observation() { wait_for_all_devices(); }

std::vector<Report> Observation::reports() {
    wait_for_all_devices();
    return inspector_->findings_.take();
}

const AccessLog& Observation::log() {
    wait_for_all_devices();
    return inspector_->log_;
}

}  // namespace mini::sim
