#include "libmini/extras/flight/flight_recorder.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/log.hpp"
#include "libmini/core/machine.hpp"
#include "libmini/core/temporary_folder.hpp"
#include "libmini/core/thread.hpp"
#include "libmini/core/world.hpp"
#include "libmini/io/file.hpp"

namespace mini::dist {
namespace {

// Returns the launcher's name for the job.
std::string run_name() {
    for (const char* name :
         {"TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "PMIX_NAMESPACE", "PMI_JOBID"})
        if (const std::string value = environment(name); !value.empty()) return value;
    return "local";
}

// ---- all recorders of the process, and the thread that handles SIGUSR1

sem_t signaled;  // posted by the handler

void on_signal(int) {
    const int kept = errno;
    ::sem_post(&signaled);
    errno = kept;
}

class Registry {
  public:
    // Never destroyed: a thread may still use it when the process exits.
    static Registry& instance() {
        static Registry* const registry = new Registry;
        return *registry;
    }

    void add(FlightRecorder* recorder) {
        const std::lock_guard starting(watching_);
        if (!thread_.joinable()) start();
        const std::lock_guard lock(mutex_);
        recorders_.push_back(recorder);
    }

    void remove(FlightRecorder* recorder) {
        const std::lock_guard stopping(watching_);
        {
            const std::lock_guard lock(mutex_);
            std::erase(recorders_, recorder);
            if (!recorders_.empty()) return;
        }
        stop();
    }

  private:
    void start() {
        struct sigaction now {};
        ::sigaction(SIGUSR1, nullptr, &now);
        if (now.sa_handler != SIG_DFL) return;
        ending_ = false;
        ::sem_init(&signaled, 0, 0);
        thread_ = start_thread([this] { watch(); });
        struct sigaction ours {};
        ours.sa_handler = on_signal;
        ours.sa_flags = SA_RESTART;
        ::sigaction(SIGUSR1, &ours, nullptr);
    }

    void stop() {
        if (!thread_.joinable()) return;
        struct sigaction now {};
        ::sigaction(SIGUSR1, nullptr, &now);
        if (now.sa_handler == on_signal) ::signal(SIGUSR1, SIG_DFL);
        ending_ = true;
        ::sem_post(&signaled);
        thread_.join();
    }

    void watch() {
        while (true) {
            while (::sem_wait(&signaled) != 0) continue;  // EINTR
            if (ending_) return;
            while (::sem_trywait(&signaled) == 0)
                continue;  // several signals cause one report
            show_all();
        }
    }

    void show_all() {
        const std::lock_guard lock(mutex_);
        for (const FlightRecorder* recorder : recorders_) {
            try {
                const std::string path =
                    recorder->path().empty()
                        ? recorder->copy_to(temporary_folder(), "SIGUSR1")
                        : recorder->path();
                logging::warning("SIGUSR1: the flight recorder's dump is ", path);
            } catch (const std::exception& error) {
                logging::warning("SIGUSR1: no copy of the flight recorder's dump: ",
                                 error.what());
            }
        }
    }

    std::mutex watching_;  // guards the thread
    std::thread thread_;
    std::atomic<bool> ending_ = false;
    std::mutex mutex_;  // guards recorders_
    std::vector<FlightRecorder*> recorders_;
};

// Maps memory for a dump: the file `path`, or private memory if `path` is "". Returns
// null on failure.
FlightDump* map_dump(const std::string& path) {
    int fd = -1;
    if (!path.empty()) {
        // Remove the file of an earlier group. Existing mappings of the file stay valid.
        ::unlink(path.c_str());
        fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0) return nullptr;
        // Reserve the disk space: on a full disk, a write to the mapping would raise
        // SIGBUS.
        errno = ::posix_fallocate(fd, 0, sizeof(FlightDump));
        if (errno != 0) {
            ::close(fd);
            ::unlink(path.c_str());
            return nullptr;
        }
    }
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* const memory =
        ::mmap(nullptr, sizeof(FlightDump), PROT_READ | PROT_WRITE, flags, fd, 0);
    if (fd >= 0) ::close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<FlightDump*>(memory);
}

}  // namespace

FlightRecorder::FlightRecorder(const GroupOfRank& group) {
    const int world_rank = group.members.empty()
                               ? current_world().value_or(World{.rank = group.rank}).rank
                               : group.members[static_cast<size_t>(group.rank)];
    head_ = {.run = run_name(),
             .group = group.group.empty() ? "default" : group.group,
             .backend = group.backend,
             .host = host_name(),
             .rank = group.rank,
             .world_size = group.world_size,
             .world_rank = world_rank,
             .members = group.members,
             .pid = ::getpid(),
             .restart = std::atoi(environment("TORCHELASTIC_RESTART_COUNT").c_str())};
    open_dump();
    try {
        Registry::instance().add(this);
    } catch (...) {
        ::munmap(dump_, sizeof(FlightDump));
        throw;
    }
}

FlightRecorder::~FlightRecorder() {
    Registry::instance().remove(this);
    ::munmap(dump_, sizeof(FlightDump));
}

void FlightRecorder::open_dump() {
    if (const std::string folder = environment("MINI_FLIGHT_DIR"); !folder.empty()) {
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        const std::string path = concat(folder, "/", flight_file_name(head_));
        dump_ = map_dump(path);
        if (dump_ != nullptr) {
            path_ = path;
        } else {
            logging::warning("the flight recorder's dump is only in memory: ", path, ": ",
                             system_message("open", errno), "; see MINI_FLIGHT_DIR");
        }
    }
    if (dump_ == nullptr) dump_ = map_dump("");
    MINI_CHECK(dump_ != nullptr, "flight recorder: ", system_message("mmap", errno));
    begin_dump(*dump_, head_);
}

// Returns the rank in the job of rank `rank` of the group; -1 for -1.
int FlightRecorder::world_rank(int rank) const {
    return rank < 0 || head_.members.empty() ? rank
                                             : head_.members[static_cast<size_t>(rank)];
}

FlightRecorder::OperationId FlightRecorder::queued(const Collective& collective,
                                                   uint64_t bytes, int peer,
                                                   uint64_t tag) noexcept {
    return add({.collective = collective,
                .peer = world_rank(peer),
                .tag = tag,
                .bytes = bytes,
                .queued_at = flight_now()});
}

FlightRecorder::OperationId FlightRecorder::started_at_once(const Collective& collective,
                                                            uint64_t bytes,
                                                            int64_t now) noexcept {
    return add({.collective = collective,
                .state = FlightRecord::State::kStarted,
                .bytes = bytes,
                .queued_at = now,
                .started_at = now});
}

// Appends a record, with its number and the root's rank in the job. Returns the number.
FlightRecorder::OperationId FlightRecorder::add(FlightRecord record) noexcept {
    record.collective.root = world_rank(record.collective.root);
    const std::lock_guard lock(mutex_);
    record.number = dump_->recorded + 1;
    dump_->records[dump_->recorded % kFlightRecords] = record;
    return ++dump_->recorded;
}

void FlightRecorder::started(OperationId id) noexcept {
    const std::lock_guard lock(mutex_);
    if (FlightRecord* const record = find(id)) {
        record->started_at = flight_now();
        record->state = FlightRecord::State::kStarted;
    }
}

void FlightRecorder::end(OperationId id, FlightRecord::State state, const char* algorithm,
                         int64_t now) noexcept {
    const std::lock_guard lock(mutex_);
    FlightRecord* const record = find(id);
    if (record == nullptr) return;
    std::strncpy(record->algorithm, algorithm, sizeof record->algorithm - 1);
    record->ended_at = now;
    record->state = state;
}

// Returns the record of an operation; null if the record was overwritten or the operation
// has ended.
FlightRecord* FlightRecorder::find(OperationId id) noexcept {
    if (id == 0) return nullptr;
    FlightRecord& record = dump_->records[(id - 1) % kFlightRecords];
    return record.number == id && record.ended_at == 0 ? &record : nullptr;
}

Flight FlightRecorder::snapshot() const {
    const std::lock_guard lock(mutex_);
    return read_dump(*dump_);
}

std::string FlightRecorder::copy_to(const std::string& folder,
                                    const std::string& occasion) const {
    const std::string path = concat(folder, "/", flight_file_name(head_));
    const auto copy = std::make_unique<FlightDump>();
    {
        const std::lock_guard lock(mutex_);
        *copy = *dump_;
    }
    put_reason(*copy, occasion, -1);
    io::AtomicFile file(path);
    file.write(std::as_bytes(std::span(copy.get(), 1)));
    file.commit();
    return path;
}

void FlightRecorder::note_failure(const std::string& reason, int blamed) noexcept {
    const std::lock_guard lock(mutex_);
    put_reason(*dump_, reason, blamed);
}

}  // namespace mini::dist
