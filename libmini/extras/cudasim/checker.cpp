#include "libmini/extras/cudasim/checker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/extras/cudasim/api.hpp"
#include "libmini/extras/cudasim/findings.hpp"
#include "libmini/extras/cudasim/hooks.hpp"
#include "libmini/extras/cudasim/host_guard.hpp"
#include "libmini/extras/cudasim/inspector.hpp"
#include "libmini/extras/cudasim/memory.hpp"
#include "libmini/extras/cudasim/observer.hpp"

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

// Sets the observer and enables the hooks until the end of the scope.
class Installed {
  public:
    explicit Installed(Inspector* inspector) : before_(observer()) {
        set_observer(inspector);
        inspected = true;
    }
    ~Installed() {
        set_observer(before_);
        inspected = before_ != nullptr;
    }
    Installed(const Installed&) = delete;
    Installed& operator=(const Installed&) = delete;

  private:
    Observer* before_;
};

// Checks the whole program if MINI_SIM_CHECK is 1.
class WholeProgram {
  public:
    WholeProgram() {
        const char* const value = std::getenv("MINI_SIM_CHECK");
        if (value == nullptr || std::string(value) != "1") return;
        findings_ = new Findings;  // these three objects are never freed
        set_observer(new Inspector(findings_, nullptr, new HostGuard(findings_)));
        inspected = true;
    }

    // Prints the reports. Runs when the program exits, after its other cleanup.
    void finish() {
        if (findings_ == nullptr) return;
        wait_for_all_devices();
        const auto reports = findings_->take();
        std::fflush(nullptr);  // the program's own output comes first
        for (const Report& report : reports) fmt::print(stderr, "{}\n", describe(report));
        if (reports.empty()) return;
        fmt::print(stderr, "MINI_SIM_CHECK: {} mistake{}\n", reports.size(),
                   reports.size() == 1 ? "" : "s");
        std::fflush(nullptr);
        _exit(EXIT_FAILURE);
    }

  private:
    Findings* findings_ = nullptr;
};

WholeProgram whole_program;

__attribute__((destructor)) void finish() { whole_program.finish(); }

}  // namespace

struct Checker::State {
    Findings findings;
    HostGuard guard{&findings};
    Inspector inspector{&findings, nullptr, &guard};
    Installed installed{&inspector};
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

struct Counting::State {
    AccessLog log;
    Inspector inspector{nullptr, &log, nullptr};
    Installed installed{&inspector};
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
