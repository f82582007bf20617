#include "libmini/tools/minirun/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/net/rank_records.hpp"
#include "libmini/distributed/net/root_cause.hpp"
#include "libmini/tools/minirun/signals.hpp"

namespace mini::tools {
namespace {

constexpr std::chrono::milliseconds kGatherTime{100};

// How long to wait for an error message on stderr, if no rank has written one.
constexpr std::chrono::seconds kMessageTime{2};

constexpr int kUsageExit = 2;  // by convention, a usage error

// Creates a log file. Returns a closed descriptor if `path` is "".
Descriptor open_log(const std::string& path) {
    if (path.empty()) return {};
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                        failure);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    Descriptor file(failure ? -1 : open(path.c_str(), flags, 0644));
    if (file.is_open()) return file;
    throw Error("cannot write ", path, ": ",
                failure ? failure.message() : system_message("open", errno),
                "; choose another --log-dir");
}

// Moves minirun, and the ranks that it starts from now on, to part k of `cores`, divided
// into `parts` nearly equal parts; to one core if there are more parts than cores.
void run_on_part(const cpu_set_t& cores, int k, int parts) {
    cpu_set_t part;
    CPU_ZERO(&part);
    const int count = CPU_COUNT(&cores), begin = count * k / parts;
    const int end = std::max(begin + 1, count * (k + 1) / parts);
    for (int core = 0, index = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &cores) && index++ >= begin && index <= end)
            CPU_SET(core, &part);
    MINI_CHECK(sched_setaffinity(0, sizeof part, &part) == 0,
               system_message("--bind-to core: sched_setaffinity", errno));
}

}  // namespace

Supervisor::Supervisor(const Options& options, const dist::Job& job,
                       const Cleaner& cleaner)
    : options_(options),
      job_(job),
      cleaner_(cleaner),
      output_(options.prefix),
      signals_(open_signals()) {}

Outcome Supervisor::run() {
    start_ranks();
    while (any_running()) {
        wait_for_events();
        output_.copy();
        handle_signals();
        reap_ended();
        handle_timeout();
    }
    output_.finish();
    Outcome outcome = conclude();
    if (user_stops_) outcome.may_be_restarted = false;
    if (outcome.code == 0 && output_.is_lost()) outcome.code = 1;
    return outcome;
}

void Supervisor::start_ranks() {
    const dist::Environment base = dist::current_environment();
    const bool is_bound = options_.bind_to == "core";
    cpu_set_t cores;
    MINI_CHECK(!is_bound || sched_getaffinity(0, sizeof cores, &cores) == 0,
               system_message("--bind-to core: sched_getaffinity", errno));
    for (int local = 0; local < job_.local_size(); ++local) {
        if (is_bound) run_on_part(cores, local, job_.local_size());
        children_.emplace_back(options_.command,
                               dist::rank_environment(base, job_, local), cleaner_);
        Child& child = children_.back();
        output_.add_rank(job_.rank(local),
                         {std::move(child.out()), open_log(log_path(local, "stdout"))},
                         {std::move(child.err()), open_log(log_path(local, "stderr"))});
    }
    if (is_bound) run_on_part(cores, 0, 1);
}

// Returns the path of a rank's log; "" if the output is not logged.
std::string Supervisor::log_path(int local_rank, const char* stream) const {
    if (options_.log_dir.empty()) return "";
    return concat(std::filesystem::absolute(options_.log_dir).string(), "/",
                  job_.log_name, "/attempt_", job_.restart_count, "/", local_rank, "/",
                  stream, ".log");
}

// Blocks until a rank writes, a signal arrives (SIGCHLD: a rank has ended), or the time
// of the phase is over.
void Supervisor::wait_for_events() {
    std::vector<pollfd> polled{{signals_.fd(), POLLIN, 0}};
    output_.watch(polled);

    int timeout = -1;
    if (phase_end_ != Clock::time_point::max()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(phase_end_ - Clock::now());
        timeout = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    poll(polled.data(), polled.size(), timeout);
}

void Supervisor::handle_signals() {
    signalfd_siginfo info;
    while (read(signals_.fd(), &info, sizeof(info)) == sizeof(info)) {
        const int signal = static_cast<int>(info.ssi_signo);
        switch (signal) {
            case SIGCHLD:  // reap_ended checks every child
            case SIGXFSZ: break;
            case SIGUSR1:
            case SIGUSR2: pass_on(signal); break;
            case SIGCONT: signal_all(signal); break;
            case SIGTSTP:
                signal_all(signal);
                raise(SIGSTOP);
                break;
            default: user_stops_ = true; handle_ending_signal(signal);
        }
    }
}

void Supervisor::pass_on(int signal) {
    int count = 0;
    for (const Child& child : children_)
        if (child.pid() > 0) count += send_to_handlers(child.pid(), signal);
    if (count == 0)
        output_.say(concat("ignored ", signal_name(signal), ": no rank handles it"));
}

// The user's signal ends the job. The ranks are asked to end, by the signal that
// ending_signal_for_ranks() returns, or killed if they were asked before. The signal is
// the reason for the end (interrupted_by_) unless a rank has failed before it.
void Supervisor::handle_ending_signal(int signal) {
    // [lab12.5] Pass the first signal on, and kill at the second.
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }
    // [lab12.5]
}

void Supervisor::reap_ended() {
    for (size_t local = 0; local < children_.size(); ++local) {
        Child& child = children_[local];
        if (!child.has_ended()) continue;
        const pid_t pid = child.pid();
        record_end(static_cast<int>(local), pid, child.reap());
    }
}

// Keeps the End of a rank, with the time of dist::Clock in nanoseconds. The first failure
// ends the job if nothing else has: minirun then waits a moment for further failures.
void Supervisor::record_end(int local_rank, pid_t pid, const Exit& exit) {
    // [lab12.5] Remember the end; the first failure ends the job.
    ends_.push_back({job_.rank(local_rank), pid, exit, sent_by_us(exit),
                     dist::Clock::now().time_since_epoch().count()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();
    // [lab12.5]
}

void Supervisor::handle_timeout() {
    if (Clock::now() < phase_end_) return;
    if (phase_ == Phase::kGathering && awaits_message()) {
        enter(Phase::kGathering, kGatherTime);
    } else {
        end_phase();
    }
}

// The time of a phase is over. After gathering the ranks are asked to end, by SIGTERM.
// Those that SIGINT did not end are asked by SIGTERM, with another grace time; a rank that
// ended in between is no suspect (gathered_). All others are killed.
void Supervisor::end_phase() {
    // [lab12.5] Take the next step towards the end of the job.
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }
    // [lab12.5]
}

// Returns whether to wait longer for an error message. If all ranks fail for the same
// reason, only one rank prints the message, and this rank may be the last to fail.
bool Supervisor::awaits_message() const {
    const bool by_code =
        std::ranges::none_of(ends_, [](const End& end) { return end.exit.by_signal; });
    return by_code && !output_.anyone_spoke() && Clock::now() < message_end_;
}

// Starts to wait: a moment for further failures, and longer for an error message.
void Supervisor::gather() {
    message_end_ = Clock::now() + kMessageTime;
    enter(Phase::kGathering, kGatherTime);
}

// Asks the remaining ranks to end, and starts the grace time.
void Supervisor::stop(int signal) {
    gathered_ = ends_.size();
    stop_signal_ = signal;
    signal_all(signal);
    enter(Phase::kStopping, options_.grace);
}

// Kills the remaining ranks. No time limit applies to their ends.
void Supervisor::kill_all() {
    signal_all(SIGKILL);
    enter(Phase::kKilling, Clock::duration::max());
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
    if (!exit.by_signal) return stop_signal_ != 0 && !exit.failed();
    return (stop_signal_ != 0 && exit.number == stop_signal_) ||
           (stop_signal_ == SIGTERM && exit.number == SIGINT && interrupted_by_ != 0) ||
           (phase_ == Phase::kKilling && exit.number == SIGKILL);
}

// Returns the end of the rank that caused the failures; std::nullopt if no rank failed by
// itself. A rank that the others waited for has returned early, or was stopped by minirun.
std::optional<End> Supervisor::cause() const {
    std::vector<dist::RankEnd> ends;
    for (const End& end : ends_)
        ends.push_back({end.rank, failed_by_itself(end),
                        end.exit.by_signal ? end.exit.number : 0, blamed_by(end)});
    const auto index =
        dist::root_cause(ends, stop_signal_ == 0 ? ends_.size() : gathered_);
    if (!index) return std::nullopt;
    const auto blamed = std::ranges::find(ends_, ends[*index].blamed, &End::rank);
    const bool waited = blamed != ends_.end() && !failed_by_itself(*blamed);
    return waited ? *blamed : ends_[*index];
}

// Returns the rank that a failed rank's flight recorder blames; -1 if it blames no rank.
int Supervisor::blamed_by(const End& end) const {
    const dist::RankRecords& records = dist::rank_records();
    if (!failed_by_itself(end) || job_.flight_dir.empty() || !records.blamed_by)
        return -1;
    try {
        return records.blamed_by(job_.flight_dir, job_.run_id, end.rank).value_or(-1);
    } catch (const BadFile&) {
        return -1;  // add_records reports the damaged file
    }
}

Findings Supervisor::find_details(const End& cause) const {
    const int local = cause.rank - job_.rank(0);
    Findings findings{host_name(), {}, output_.tail(local)};
    add_records(cause, findings.notes);
    const std::string log = log_path(local, "stderr");
    if (!log.empty()) findings.notes.push_back(concat("its stderr is in ", log));
    if (job_.nodes > 1)
        findings.notes.push_back(concat("this is node ", job_.node_rank, " of ",
                                        job_.nodes,
                                        "; if its peers failed before it, "
                                        "the minirun of their node reports why"));
    return findings;
}

// Adds what the flight recorder knows of the rank's last operation, and keeps the folder.
// A damaged file must not hide the failure itself.
void Supervisor::add_records(const End& cause, std::vector<std::string>& notes) const {
    const dist::RankRecords& records = dist::rank_records();
    const std::string& folder = job_.flight_dir;
    if (folder.empty() || !records.last_operation) return;
    try {
        const std::string last =
            records.last_operation(folder, job_.run_id, cause.rank, cause.seen_at);
        if (!last.empty()) notes.push_back(last);
        if (!records.note_ends(folder, job_.run_id)) return;
        const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        notes.push_back(concat("for the operations of all ranks: ",
                               (here / "mini").string(), " flight ", folder));
    } catch (const std::exception& error) {
        notes.push_back(error.what());
    }
    cleaner_.keep_folder();
}

// Prints the failure report and returns the exit code.
Outcome Supervisor::conclude() {
    if (interrupted_by_ != 0) {
        output_.say(concat("stopped by ", signal_name(interrupted_by_)));
        return {.code = 128 + interrupted_by_};
    }
    const std::optional<End> cause = this->cause();
    if (!cause) return {};

    // For a usage error the program's own message is enough.
    const bool usage = !cause->exit.by_signal && cause->exit.number == kUsageExit;
    if (usage && output_.anyone_spoke()) return {.code = kUsageExit};

    for (const std::string& line : failure_report(*cause, ends_, find_details(*cause)))
        output_.say(line);
    if (!usage && job_.max_restarts > 0 && job_.restart_count == job_.max_restarts)
        output_.say(concat("gave up after ", job_.max_restarts, " restarts"));
    return {.code = failed_by_itself(*cause) ? cause->exit.code() : 1,
            .may_be_restarted = !usage};
}

}  // namespace mini::tools
