#include "libmini/extras/cudasim/checker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/inspector.hpp"
#include "libmini/extras/cudasim/memory.hpp"

namespace mini::sim {
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

// Sets the observer, until the end of the scope.
struct Session {
    // Checks accesses if `checks`, else counts them.
    explicit Session(bool checks)
        : inspector(checks ? &findings : nullptr, checks ? nullptr : &log) {
        installed_observer = &inspector;
    }
    ~Session() { installed_observer = before; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Findings findings;
    AccessLog log;
    Inspector inspector;
    Observer* const before = installed_observer;
};

// Checks the whole program if MINI_SIM_CHECK is 1.
class WholeProgram {
  public:
    WholeProgram() {
        const char* const value = std::getenv("MINI_SIM_CHECK");
        if (value != nullptr && std::string(value) == "1") session_ = new Session(true);
    }

    // Prints the reports. Runs when the program exits, after its other cleanup.
    void finish() {
        if (session_ == nullptr) return;
        wait_for_all_devices();
        const auto reports = session_->findings.take();
        std::fflush(nullptr);  // the program's own output comes first
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

  private:
    Session* session_ = nullptr;  // never freed
};

WholeProgram whole_program;

__attribute__((destructor)) void finish() { whole_program.finish(); }

}  // namespace

struct Checker::State : Session {
    State() : Session(true) {}
};

Checker::Checker() {
    wait_for_all_devices();
    state_ = std::make_unique<State>();
}

Checker::~Checker() { wait_for_all_devices(); }

std::vector<Report> Checker::reports() {
    wait_for_all_devices();
    return state_->findings.take();
}

struct Counting::State : Session {
    State() : Session(false) {}
};

Counting::Counting() {
    wait_for_all_devices();
    state_ = std::make_unique<State>();
}

Counting::~Counting() { wait_for_all_devices(); }

const AccessLog& Counting::log() {
    wait_for_all_devices();
    return state_->log;
}

}  // namespace mini::sim
