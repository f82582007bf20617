#include "tests/faults/acting.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/distributed/support.hpp"
#include "tests/faults/scene.hpp"

namespace mini::dist::faults {
namespace {

constexpr int kSteps = 8;
constexpr int kSoon = 3000, kWhileJoining = 20'000;  // microseconds

// Runs the scenario's operation once on this rank; blocks.
void step(ProcessGroup& group, const Scenario& s) {
    const auto P = static_cast<size_t>(group.world_size());
    const int root = s.world_size - 1;
    const Tensor data = Tensor::ones({s.n});
    const std::vector<Tensor> blocks(P, data);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < P; ++i) outputs.push_back(Tensor::zeros({s.n}));
    const bool is_root = group.rank() == root;
    const std::vector<Tensor> none;
    switch (s.operation) {
        case Operation::kAllReduce:
            return group.all_reduce(data, ReduceOp::kSum, s.algorithm);
        case Operation::kBroadcast: return group.broadcast(data, root);
        case Operation::kReduce: return group.reduce(data, root);
        case Operation::kAllGather: return group.all_gather(outputs, data);
        case Operation::kGather:
            return group.gather(is_root ? outputs : none, data, root);
        case Operation::kScatter:
            return group.scatter(data, is_root ? outputs : none, root);
        case Operation::kReduceScatter: return group.reduce_scatter(data, outputs);
        case Operation::kAllToAll: return group.all_to_all(outputs, blocks);
        default: return group.barrier();
    }
}

// Writes the fault's time to the board, then injects the fault. For the victim only.
class Victim {
  public:
    Victim(const Scenario& s, Board& board, Body body)
        : s_(s), board_(board), body_(body) {}

    // Injects the scenario's fault. Returns true if the victim must run no more steps.
    bool strike(std::shared_ptr<QueuedGroup>& group) const {
        board_.fault_time = now();
        switch (s_.kind) {
            case Kind::kKilled: return end(group, SIGKILL);
            case Kind::kAborts: std::abort();
            case Kind::kCrashes: return end(group, SIGSEGV);
            case Kind::kExits:
                if (body_ != Body::kThread) ::_exit(0);
                group = nullptr;
                return true;
            case Kind::kThrows: return fail(*group, Error("out of cheese"));
            case Kind::kNoMemory: return fail(*group, std::bad_alloc());
            case Kind::kStopped:
                if (body_ == Body::kProcess) ::raise(SIGSTOP);
                wait_for_others();
                group = nullptr;
                return true;
            case Kind::kPaused:  // the watching process sends SIGCONT
                if (body_ == Body::kProcess) return ::raise(SIGSTOP) != 0;
                [[fallthrough]];
            case Kind::kSlow: std::this_thread::sleep_for(s_.timeout / 2); return false;
            case Kind::kStopsEarly: group->shutdown(); return true;
            case Kind::kOtherCall: group->broadcast(Tensor::zeros({5}), 0); return false;
            case Kind::kOtherSize: group->all_reduce(Tensor::zeros({5})); return false;
            default: return false;
        }
    }

    // Starts a thread that kills or stops this process after a random time of at most
    // `microseconds`, in the middle of any call.
    void strike_within(int microseconds) const {
        std::mt19937 random(s_.seed);
        const std::chrono::microseconds delay(
            std::uniform_int_distribution(0, microseconds)(random));
        std::thread([&board = board_, delay, dies = is_death(s_.kind)] {
            std::this_thread::sleep_for(delay);
            board.fault_time = now();
            ::kill(::getpid(), dies ? SIGKILL : SIGSTOP);
        }).detach();
    }

  private:
    // Blocks until all other ranks have finished.
    void wait_for_others() const {
        const Deadline deadline = deadline_after(kPatience);
        while (board_.ended < s_.world_size - 1 && !has_passed(deadline))
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }

    bool end(std::shared_ptr<QueuedGroup>& group, int signal) const {
        if (body_ != Body::kThread) ::raise(signal);
        group = nullptr;
        return true;
    }

    // Handles an exception of the rank as run_threads, spawn and minirun do.
    static bool fail(QueuedGroup& group, const std::exception& error) {
        group.abandon(error.what());
        return true;
    }

    const Scenario& s_;
    Board& board_;
    Body body_;
};

bool replaces_a_step(Kind kind) {
    return kind == Kind::kOtherCall || kind == Kind::kOtherSize || kind == Kind::kSkips;
}

int due_step(Moment moment) {
    if (moment == Moment::kBefore) return 0;
    return moment < Moment::kShutdown ? kSteps / 2 : kSteps;
}

// Runs the steps of one rank; on the victim, injects the fault at the due step.
void act(std::shared_ptr<QueuedGroup>& group, int slot, const Scenario& s, Board& board,
         Body body) {
    const Victim victim(s, board, body);
    const bool mine = group->rank() == s.victim;
    const int due = due_step(s.moment);
    const bool waits_for_the_end = is_death(s.kind) || s.kind == Kind::kStopped;
    const bool endless = waits_for_the_end && s.moment < Moment::kShutdown;
    for (int i = 0; endless || i < kSteps; ++i) {
        if (mine && i == due && s.moment == Moment::kInside && body != Body::kThread)
            victim.strike_within(kSoon);
        else if (mine && i == due && victim.strike(group))
            return;
        board.start_time[slot] = now();
        if (!(mine && i == due && replaces_a_step(s.kind))) step(*group, s);
    }
    if (s.kind == Kind::kSkips) {
        if (mine) board.fault_time = now();  // the ranks' calls differ only from here on
        group->broadcast(Tensor::zeros({3}), 0);
    }
    if (mine && s.moment == Moment::kShutdown && victim.strike(group)) return;
    if (mine && s.moment == Moment::kLeaving && body != Body::kThread)
        victim.strike_within(kSoon);
    group->shutdown();
}

// Returns a subgroup of all ranks.
std::shared_ptr<QueuedGroup> subgroup_of(ProcessGroup& group) {
    std::vector<int> ranks(static_cast<size_t>(group.world_size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return std::dynamic_pointer_cast<QueuedGroup>(group.new_group(ranks));
}

}  // namespace

std::shared_ptr<QueuedGroup> joined(const InitOptions& options) {
    auto group = init_process_group(options);
    set_default_group(nullptr);
    return std::dynamic_pointer_cast<QueuedGroup>(std::move(group));
}

void play_rank(const std::function<std::shared_ptr<QueuedGroup>()>& join, int slot,
               const Scenario& s, Board& board, Body body) {
    const Victim victim(s, board, body);
    const bool dies_joining = s.kind == Kind::kKilled && s.moment == Moment::kJoining;
    if (dies_joining && slot == s.victim) victim.strike_within(kWhileJoining);
    board.start_time[slot] = now();
    const std::string text = test::failure_of([&] {
        auto whole = join();
        auto group = s.in_subgroup ? subgroup_of(*whole) : std::exchange(whole, nullptr);
        try {
            act(group, slot, s, board, body);
        } catch (...) {  // before `whole` is destroyed, which waits for goodbyes
            board.error_time[slot] = now();
            throw;
        }
    });
    if (!text.empty() && board.error_time[slot] == 0) board.error_time[slot] = now();
    std::strncpy(board.text[slot], text.c_str(), kMaxText - 1);
    ++board.ended;
}

}  // namespace mini::dist::faults
