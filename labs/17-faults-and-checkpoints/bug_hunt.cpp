// A bug hunt: a training run that saves its state, loses power, and starts again. The
// power is lost before every system call, and every state of the disk that is then
// possible must lead to the weight of a run that was not interrupted.
//
//     lab17_bug_hunt
//
// Exit codes: 0 every restart ends with the same weight, 1 not.

#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include "labs/17-faults-and-checkpoints/simulated_disk.hpp"
#include "libmini/io/file.hpp"
#include "libmini/io/file_system.hpp"

using namespace mini::io;
using Files = SimulatedDisk::Files;

namespace {

constexpr int kSteps = 6;
constexpr int kSaveEvery = 2;

// The state of a run with one weight.
struct State {
    float weight = 1.0f;
    float momentum = 0.0f;
    int step = 0;  // steps done
};

void write(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

std::string name_of(int step) { return fmt::format("run/step-{}", step); }

// ---- saving and loading: the file run/latest has the name of the newest checkpoint

void save(const State& state) {
    const std::string text =
        fmt::format("{} {} {}", state.step, std::to_string(state.weight),
                    std::to_string(state.momentum));

    // Each file is the old one or the new one, because AtomicFile writes it.
    const std::string name = name_of(state.step);
    write("run/latest", name);
    write(name, text);

    // The checkpoint before this one is not needed any more.
    file_system().remove(name_of(state.step - kSaveEvery));
}

// Returns the state to continue from; std::nullopt if run/latest names a missing file.
std::optional<State> load(const Files& files) {
    const auto latest = files.find("run/latest");
    if (latest == files.end()) return State{};
    const auto checkpoint = files.find(latest->second);
    if (checkpoint == files.end()) return std::nullopt;

    State state;
    std::istringstream text(checkpoint->second);
    std::string weight, momentum;
    text >> state.step >> weight >> momentum;
    state.weight = std::stof(weight);
    state.momentum = std::stof(momentum);
    return state;
}

// ---- training: SGD with momentum; the data of each step is different

void train(State& state) {
    for (int step = state.step; step < kSteps; ++step) {
        const auto x = static_cast<float>(step + 1);
        state.momentum = 0.5f * state.momentum + 0.1f * (state.weight - x);
        state.weight -= state.momentum;
        state.step = step;
        if ((step + 1) % kSaveEvery == 0) save(state);
    }
}

// Runs on this disk, from the state that its files have. Returns the last weight, or
// std::nullopt if the run cannot start.
std::optional<float> run(SimulatedDisk& disk) {
    const FileSystemGuard guard(disk);
    std::optional<State> state = load(disk.files());
    if (!state) return std::nullopt;
    train(*state);
    return state->weight;
}

}  // namespace

int main() {
    SimulatedDisk undisturbed;
    const float expected = run(undisturbed).value();

    int restarts = 0, failed = 0, different = 0;
    for (size_t call = 0; call <= undisturbed.calls().size(); ++call) {
        SimulatedDisk disk;
        disk.lose_power_before(call);
        run(disk);
        for (const Files& files : disk.after_power_loss()) {
            SimulatedDisk after(files);
            const std::optional<float> weight = run(after);
            ++restarts;
            failed += !weight;
            different += weight && *weight != expected;
        }
    }
    std::cout << fmt::format(
        "{} restarts: {} found no checkpoint under the name in run/latest, {} ended with "
        "another weight than {}\n",
        restarts, failed, different, expected);
    const bool right = failed == 0 && different == 0;
    std::cout << (right ? "every restart continues the run\n"
                        : "a restart is not the same run\n");
    return right ? 0 : 1;
}
