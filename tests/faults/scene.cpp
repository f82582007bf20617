#include "tests/faults/scene.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "libmini/core/error.hpp"
#include "libmini/dist/default_group.hpp"
#include "tests/dist/support.hpp"

namespace mini::dist::faults {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kNeverReached = std::chrono::seconds(60);
constexpr milliseconds kReached(600);  // of those scenarios that wait for a deadline
constexpr milliseconds kPatience = std::chrono::seconds(10);
constexpr int kSteps = 8;
constexpr size_t kMaxRanks = 8, kMaxText = 1500;

int64_t now() { return Clock::now().time_since_epoch().count(); }

// What all processes of a scene write to.
struct Board {
    std::atomic<int64_t> fault_time;
    std::atomic<int64_t> error_time[kMaxRanks];
    char text[kMaxRanks][kMaxText];
};

class SharedBoard {
  public:
    SharedBoard()
        : board_(
              static_cast<Board*>(::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        MINI_CHECK(board_ != MAP_FAILED, system_message("mmap", errno));
    }
    ~SharedBoard() { ::munmap(board_, sizeof(Board)); }
    SharedBoard(const SharedBoard&) = delete;
    SharedBoard& operator=(const SharedBoard&) = delete;
    Board* operator->() const { return board_; }
    Board& operator*() const { return *board_; }

  private:
    Board* board_;
};

bool waits_for_deadline(const Scenario& s) { return s.kind == Kind::kStopped; }
bool is_victim(const Scenario& s, int rank) { return rank == s.victim; }

// The victim's end, whatever it is, told to the board first.
class Victim {
  public:
    Victim(const Scenario& s, Board& board, bool is_thread)
        : s_(s), board_(board), is_thread_(is_thread) {}

    // Does what the scenario says; true when the rank is to do nothing more.
    bool strike(std::shared_ptr<QueuedGroup>& group) const {
        board_.fault_time = now();
        switch (s_.kind) {
            case Kind::kKilled: return end(group, SIGKILL);
            case Kind::kExits:
                if (!is_thread_) ::_exit(0);
                group = nullptr;
                return true;
            case Kind::kThrows: group->abandon("out of cheese"); return true;
            case Kind::kStopped:
                if (is_thread_) std::this_thread::sleep_for(2 * kReached);
                return end(group, SIGSTOP);
            case Kind::kPaused:  // somebody else sends SIGCONT
                if (is_thread_) std::this_thread::sleep_for(kReached / 2);
                return !is_thread_ && ::raise(SIGSTOP) != 0;
            case Kind::kSlow: std::this_thread::sleep_for(kReached / 2); return false;
            case Kind::kStopsEarly: group->shutdown(); return true;
            case Kind::kOtherCall: group->broadcast(Tensor::zeros({5}), 0); return false;
            case Kind::kOtherSize: group->all_reduce(Tensor::zeros({5})); return false;
            case Kind::kSkips: return false;
        }
        return false;
    }

    // Kills this process in a moment; it may be anywhere then.
    void strike_soon() const {
        const auto delay =
            std::chrono::microseconds(std::uniform_int_distribution(0, 3000)(random()));
        std::thread([this, delay] {
            std::this_thread::sleep_for(delay);
            board_.fault_time = now();
            ::raise(SIGKILL);
        }).detach();
    }

  private:
    std::mt19937& random() const {
        static std::mt19937 generator(s_.seed);
        return generator;
    }
    bool end(std::shared_ptr<QueuedGroup>& group, int signal) const {
        if (!is_thread_) ::raise(signal);
        group = nullptr;
        return true;
    }

    const Scenario& s_;
    Board& board_;
    bool is_thread_;
};

// What every rank does: its steps, and the fault where it is due.
void act(std::shared_ptr<QueuedGroup>& group, const Scenario& s, Board& board,
         bool is_thread) {
    const Victim victim(s, board, is_thread);
    const bool mine = is_victim(s, group->rank());
    const int due = s.moment == Moment::kBefore     ? 0
                    : s.moment == Moment::kShutdown ? kSteps
                                                    : kSteps / 2;
    const bool endless = s.kind <= Kind::kStopped && s.moment != Moment::kShutdown;
    for (int i = 0; endless || i < kSteps; ++i) {
        if (mine && i == due) {
            if (s.moment == Moment::kInside && !is_thread)
                victim.strike_soon();
            else if (victim.strike(group))
                return;
        }
        const bool replaced = s.kind == Kind::kOtherCall || s.kind == Kind::kOtherSize ||
                              s.kind == Kind::kSkips;
        if (!(mine && i == due && replaced)) step(*group, s);
    }
    if (s.kind == Kind::kSkips) group->broadcast(Tensor::zeros({3}), 0);
    if (mine && s.moment == Moment::kShutdown && victim.strike(group)) return;
    group->shutdown();
}

void play_rank(std::shared_ptr<QueuedGroup> group, const Scenario& s, Board& board,
               bool is_thread) {
    const auto rank = static_cast<size_t>(group->rank());
    const std::string text = test::failure_of([&] { act(group, s, board, is_thread); });
    if (text.empty()) return;
    board.error_time[rank] = now();
    std::strncpy(board.text[rank], text.c_str(), kMaxText - 1);
}

milliseconds timeout_of(const Scenario& s) {
    if (waits_for_deadline(s)) return kReached;
    const bool close = s.kind == Kind::kPaused || s.kind == Kind::kSlow;
    return close ? 4 * kReached : kNeverReached;
}

// A process of the scene; `body` is all it does.
pid_t start(const std::function<void()>& body) {
    const pid_t process = ::fork();
    MINI_CHECK(process >= 0, system_message("fork", errno));
    if (process > 0) return process;
    const std::string text = test::failure_of(body);
    if (!text.empty()) ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(text.empty() ? 0 : 1);
}

std::vector<pid_t> start_ranks(const std::string& kind, const Scenario& s, Board& board) {
    if (kind == "threads")
        return {start([&] {
            auto groups = make_threads_groups(s.world_size, timeout_of(s));
            test::on_ranks(s.world_size, [&](int rank) {
                play_rank(std::move(groups[static_cast<size_t>(rank)]), s, board, true);
            });
        })};
    const int port = test::free_port();
    std::vector<pid_t> processes;
    for (int rank = 0; rank < s.world_size; ++rank)
        processes.push_back(start([&, rank] {
            const InitOptions options{
                .init_method = concat("tcp://127.0.0.1:", port),
                .rank = rank,
                .world_size = s.world_size,
                .timeout = timeout_of(s),
                .medium = kind == "ring-tcp" ? Medium::kTcp : Medium::kSharedMemory};
            auto group = init_process_group(options);
            set_default_group(nullptr);
            play_rank(std::dynamic_pointer_cast<QueuedGroup>(std::move(group)), s, board,
                      false);
        }));
    return processes;
}

// Sleeps until a child has changed, or until the deadline.
void wait_for_a_child(Deadline deadline) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int left = milliseconds_left(deadline);
    const timespec time{left / 1000, left % 1000 * 1'000'000L};
    ::sigtimedwait(&child, nullptr, &time);
}

// Buries all children, continues or ends those that have stopped; false when the watchdog
// had to end them.
bool watch(std::vector<pid_t> processes, const Scenario& s) {
    const bool one_stays = s.kind == Kind::kStopped && processes.size() > 1;
    const Deadline deadline = deadline_after(kPatience);
    while (!processes.empty() && !has_passed(deadline)) {
        std::erase_if(processes, [&](pid_t process) {
            int status = 0;
            const pid_t changed = ::waitpid(process, &status, WNOHANG | WUNTRACED);
            if (changed == process && WIFSTOPPED(status) && s.kind == Kind::kPaused) {
                ::usleep(kReached.count() * 500);  // half a deadline of others
                ::kill(process, SIGCONT);
            }
            return changed == process && !WIFSTOPPED(status);
        });
        if (processes.size() == (one_stays ? 1 : 0)) break;
        wait_for_a_child(deadline);
    }
    const bool hung = has_passed(deadline);
    for (const pid_t process : processes) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
    return !hung;
}

}  // namespace

Outcome play(const std::string& group_kind, const Scenario& s) {
    const SharedBoard board;
    Outcome outcome;
    outcome.hung = !watch(start_ranks(group_kind, s, *board), s);
    for (int rank = 0; rank < s.world_size; ++rank) {
        const auto r = static_cast<size_t>(rank);
        outcome.texts.emplace_back(board->text[r]);
        const int64_t error = board->error_time[r], fault = board->fault_time;
        if (error > 0 && fault > 0)
            outcome.error_times.push_back(static_cast<double>(error - fault) / 1e6);
    }
    return outcome;
}

}  // namespace mini::dist::faults
