#include "libmini/tools/minirun/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <optional>

#include "libmini/core/machine.hpp"
#include "libmini/distributed/flight/flight_box.hpp"
#include "libmini/distributed/net/root_cause.hpp"

namespace mini::tools {
namespace {

constexpr std::chrono::milliseconds kGatherTime{100};

// How long to wait for the reason of an end, when no rank has written any.
constexpr std::chrono::seconds kWordsTime{2};

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

Supervisor::Supervisor(const Options& options, const Job& job, FlightFolder& flights,
                       const Caretaker& caretaker)
    : options_(options),
      job_(job),
      flights_(flights),
      caretaker_(caretaker),
      logs_(options, job),
      output_(options.prefix),
      signals_(open_signals()) {}

Outcome Supervisor::run() {
    start_ranks();
    while (anyone_lives()) {
        wait_for_news(phase_end_);
        output_.copy();
        take_signals();
        take_ends();
        act_on_time();
    }
    deliver();
    Outcome outcome = conclude();
    deliver();
    if (times_told_to_end_ > 0) outcome.may_be_restarted = false;
    return outcome;
}

void Supervisor::start_ranks() {
    const Environment base = current_environment();
    for (int local = 0; local < job_.local_size(); ++local) {
        children_.emplace_back(options_.command, rank_environment(base, job_, local),
                               caretaker_);
        Child& child = children_.back();
        output_.add_rank(job_.rank(local), logs_.source(local, 1, std::move(child.out())),
                         logs_.source(local, 2, std::move(child.err())));
    }
}

// Sleeps until output, room for output, a signal, an end, or `until`.
void Supervisor::wait_for_news(Clock::time_point until) {
    std::vector<pollfd> polled{{signals_.fd(), POLLIN, 0}};
    output_.watch(polled);

    int timeout = -1;
    if (until != Clock::time_point::max()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        timeout = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    poll(polled.data(), polled.size(), timeout);
}

void Supervisor::take_signals() {
    signalfd_siginfo info;
    while (read(signals_.fd(), &info, sizeof(info)) == sizeof(info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) continue;  // take_ends looks at every child anyway
        if (signal == SIGPIPE && !anyone_lives()) continue;  // there is no rank to end
        if (signal != SIGPIPE) ++times_told_to_end_;

        // The first one asks the ranks to end; a further one is out of patience.
        if (phase_ == Phase::kRunning) interrupted_by_ = signal;
        if (stop_signal_ == 0) {
            stop(signal == SIGPIPE ? SIGTERM : signal);
        } else {
            signal_all(SIGKILL);
            enter(Phase::kKilling, Clock::duration::max());
        }
    }
}

void Supervisor::take_ends() {
    for (size_t local = 0; local < children_.size(); ++local) {
        Child& child = children_[local];
        if (!child.has_ended()) continue;

        const pid_t pid = child.pid();
        const Exit exit = child.reap();
        ends_.push_back({job_.rank(static_cast<int>(local)), pid, exit, sent_by_us(exit),
                         dist::flight_now()});
        if (exit.failed() && phase_ == Phase::kRunning) {
            words_end_ = Clock::now() + kWordsTime;
            enter(Phase::kGathering, kGatherTime);
        }
    }
}

void Supervisor::act_on_time() {
    if (Clock::now() < phase_end_) return;
    if (phase_ == Phase::kGathering && awaits_words()) {
        enter(Phase::kGathering, kGatherTime);
    } else if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;  // ranks that do not mind Ctrl-C may mind this
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        signal_all(SIGKILL);
        enter(Phase::kKilling, Clock::duration::max());
    }
}

// Writes what is left; how long that may take, supervisor.hpp tells.
void Supervisor::deliver() {
    Clock::time_point end = Clock::time_point::max();
    int times_heard = 0;
    while (true) {
        take_signals();
        if (times_told_to_end_ > times_heard) {
            times_heard = times_told_to_end_;
            end = Clock::now();
            if (times_heard == 1) end += options_.grace;
        }
        if (output_.finish()) return;
        if (Clock::now() >= end) break;
        wait_for_news(end);
    }
    output_.drop();
    output_.say("output that its reader did not take is lost");
}

// Ranks that all refuse the same thing let one speak for all; it may be the last to get
// there. No words come through while our own stderr is not read.
bool Supervisor::awaits_words() const {
    const bool by_code =
        std::ranges::none_of(ends_, [](const End& end) { return end.exit.by_signal; });
    return by_code && !output_.anyone_spoke() && !output_.is_deaf() &&
           Clock::now() < words_end_;
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
           (stop_signal_ == SIGTERM && exit.number == SIGINT && interrupted_by_ != 0) ||
           (phase_ == Phase::kKilling && exit.number == SIGKILL);
}

// The end that caused the others; nothing when no rank failed by itself.
std::optional<End> Supervisor::cause() const {
    std::vector<dist::RankEnd> ends;
    for (const End& end : ends_)
        ends.push_back({end.rank, failed_by_itself(end),
                        end.exit.by_signal ? end.exit.number : 0, blamed_by(end)});
    const auto index =
        dist::root_cause(ends, stop_signal_ == 0 ? ends_.size() : gathered_);
    return index ? std::optional(ends_[*index]) : std::nullopt;
}

// The rank whose loss a failed rank names in its flight recorder; -1 for none.
int Supervisor::blamed_by(const End& end) const {
    if (!failed_by_itself(end)) return -1;
    try {
        return flights_.blamed_by(job_.run_id, end.rank).value_or(-1);
    } catch (const BadFile&) {
        return -1;  // find_out tells of the damaged file
    }
}

Findings Supervisor::find_out(const End& cause) const {
    Findings findings;
    findings.host = host_name();
    const int local = cause.rank - job_.rank(0);
    findings.stderr_lines = output_.tail(local);

    // What its flight recorder tells; a damaged file must not hide the failure itself.
    try {
        const std::string last = flights_.last_operation(job_.run_id, cause);
        if (!last.empty()) findings.notes.push_back(last);
        if (flights_.keep(job_.run_id))
            findings.notes.push_back(
                concat("the flight recorder knows more: mini flight ", flights_.path()));
    } catch (const std::exception& error) {
        findings.notes.push_back(error.what());
    }
    const std::string log = logs_.stderr_path(local);
    if (!log.empty()) findings.notes.push_back(concat("its stderr is in ", log));
    if (job_.nodes > 1)
        findings.notes.push_back(concat("this is node ", job_.node_rank, " of ",
                                        job_.nodes,
                                        "; if its peers failed before it, "
                                        "the minirun of their node says why"));
    return findings;
}

// Tells the story and picks the exit code.
Outcome Supervisor::conclude() {
    if (interrupted_by_ != 0) {
        output_.say(concat("stopped by ", signal_name(interrupted_by_)));
        return {.code = 128 + interrupted_by_};
    }
    const std::optional<End> cause = this->cause();
    if (!cause) return {};

    // Usage that makes no sense is the user's to mend, and the program has said how.
    const bool usage = !cause->exit.by_signal && cause->exit.number == kUsageExit;
    if (usage && output_.anyone_spoke()) return {.code = kUsageExit};

    for (const std::string& line : failure_report(*cause, ends_, find_out(*cause)))
        output_.say(line);
    if (!usage && job_.max_restarts > 0 && job_.restart_count == job_.max_restarts)
        output_.say(concat("gave up after ", job_.max_restarts, " restarts"));
    return {.code = cause->exit.code(), .may_be_restarted = !usage};
}

}  // namespace mini::tools
