#include "libmini/tools/minirun/supervisor.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>

namespace mini::tools {
namespace {

constexpr std::chrono::milliseconds kGatherTime{100};
constexpr int kUsageExit = 2;  // by custom, "the command line makes no sense"

// Signals that end the job. SIGPIPE comes when the reader of our own output has gone.
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

bool is_ignored(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action.sa_handler == SIG_IGN;
}

// Turns signals into something to read. What the user had us ignore (nohup) stays
// ignored.
Descriptor open_signals() {
    ::signal(SIGCHLD, SIG_DFL);  // were it ignored, ends of children would go unseen
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    for (const int signal : kEndingSignals)
        if (!is_ignored(signal)) sigaddset(&wanted, signal);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);

    Descriptor signals(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals.is_open()) throw Error(system_message("signalfd", errno));
    return signals;
}

}  // namespace

Supervisor::Supervisor(const Options& options)
    : options_(options), output_(options.prefix), signals_(open_signals()) {}

int Supervisor::run(const Job& job) {
    start_ranks(job);
    while (anyone_lives()) {
        wait_for_news();
        output_.copy();
        take_signals();
        take_ends();
        act_on_time();
    }
    output_.finish();
    return conclude();
}

void Supervisor::start_ranks(const Job& job) {
    const Environment base = current_environment();
    for (int rank = 0; rank < options_.ranks; ++rank) {
        children_.emplace_back(options_.command, rank_environment(base, job, rank));
        Child& child = children_.back();
        output_.add_rank(std::move(child.out()), std::move(child.err()));
    }
}

// Sleeps until output, a signal, an end, or the end of the phase.
void Supervisor::wait_for_news() {
    std::vector<pollfd> polled{{signals_.get(), POLLIN, 0}};
    output_.watch(polled);

    int timeout = -1;
    if (phase_end_ != Clock::time_point::max()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(phase_end_ - Clock::now());
        timeout = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    poll(polled.data(), polled.size(), timeout);
}

void Supervisor::take_signals() {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) continue;  // take_ends looks at every child anyway

        // The first one asks the ranks to end; a further one is out of patience.
        if (phase_ == Phase::kRunning) interrupted_by_ = signal;
        if (stop_signal_ == 0) {
            stop(signal == SIGPIPE ? SIGTERM : signal);
        } else {
            enter(Phase::kStopping, Clock::duration::zero());
        }
    }
}

void Supervisor::take_ends() {
    for (size_t rank = 0; rank < children_.size(); ++rank) {
        Child& child = children_[rank];
        if (!child.has_ended()) continue;

        const pid_t pid = child.pid();
        const Exit exit = child.reap();
        ends_.push_back({static_cast<int>(rank), pid, exit, sent_by_us(exit)});
        if (exit.failed() && phase_ == Phase::kRunning)
            enter(Phase::kGathering, kGatherTime);
    }
}

void Supervisor::act_on_time() {
    if (Clock::now() < phase_end_) return;
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else {
        signal_all(SIGKILL);
        enter(Phase::kKilling, Clock::duration::max());
    }
}

// Asks everyone who is left to end, and gives them time for it.
void Supervisor::stop(int signal) {
    gathered_ = ends_.size();
    stop_signal_ = signal;
    signal_all(signal);
    enter(Phase::kStopping, options_.grace);
}

void Supervisor::enter(Phase phase, Clock::duration length) {
    phase_ = phase;
    const bool forever = length == Clock::duration::max();
    phase_end_ = forever ? Clock::time_point::max() : Clock::now() + length;
}

void Supervisor::signal_all(int signal) {
    for (const Child& child : children_) child.send(signal);
}

bool Supervisor::sent_by_us(const Exit& exit) const {
    if (!exit.by_signal) return false;
    return (stop_signal_ != 0 && exit.number == stop_signal_) ||
           (phase_ == Phase::kKilling && exit.number == SIGKILL);
}

// Tells the story and picks the exit code.
int Supervisor::conclude() {
    if (interrupted_by_ != 0) {
        output_.say(concat("stopped by ", signal_name(interrupted_by_)));
        return 128 + interrupted_by_;
    }
    const size_t gathered = stop_signal_ == 0 ? ends_.size() : gathered_;
    const std::optional<End> cause = root_cause(ends_, gathered);
    if (!cause) return 0;

    // Usage that makes no sense is the user's to mend, and the program has said how.
    const bool usage = !cause->exit.by_signal && cause->exit.number == kUsageExit;
    if (usage && output_.anyone_spoke()) return kUsageExit;

    for (const std::string& line :
         failure_report(*cause, ends_, output_.tail(cause->rank)))
        output_.say(line);
    return cause->exit.code();
}

}  // namespace mini::tools
