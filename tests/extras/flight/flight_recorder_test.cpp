// The flight recorder: its records and its dump files.

#include "libmini/extras/flight/flight_recorder.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/transport/tags.hpp"
#include "libmini/extras/flight/flight.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::dist;
using mini::dist::test::contains;
using mini::test::Folder;
using State = FlightRecord::State;

namespace {

// The groups of the program are recorded, as those of train_mnist.
const bool used = (mini::flight::use(), true);

Collective all_reduce_number(uint64_t sequence) {
    return {.operation = Operation::kAllReduce, .count = 10, .sequence = sequence};
}

// Sets MINI_FLIGHT_DIR, or another variable, to a new folder; the destructor unsets the
// variable.
struct FlightDir {
    Folder folder;
    const char* name;
    explicit FlightDir(const char* variable = "MINI_FLIGHT_DIR") : name(variable) {
        setenv(name, folder.path().c_str(), 1);
    }
    ~FlightDir() { unsetenv(name); }
};

}  // namespace

TEST_CASE(
    "a record goes from queued to started to finished or failed and then never changes") {
    FlightRecorder recorder({.rank = 2, .world_size = 4, .backend = "ring"});
    const auto first = recorder.queued(all_reduce_number(7), 40);
    const auto second = recorder.queued(all_reduce_number(8), 40);
    CHECK(recorder.snapshot().records.at(0).state == State::kQueued);
    recorder.started(first);
    CHECK(recorder.snapshot().records.at(0).state == State::kStarted);
    recorder.finished(first, "ring", flight_now());
    recorder.failed(first);  // too late
    recorder.failed(second);

    const Flight flight = recorder.snapshot();
    CHECK(flight.head.rank == 2);
    CHECK(flight.head.world_size == 4);
    REQUIRE(flight.records.size() == 2);
    const FlightRecord& record = flight.records[0];
    CHECK(describe(record) == "all_reduce #7 (sum of 10 float32)");
    CHECK(record.state == State::kFinished);
    CHECK(std::string(record.algorithm) == "ring");
    CHECK(record.queued_at <= record.started_at);
    CHECK(record.started_at <= record.ended_at);
    CHECK(flight.records[1].state == State::kFailed);
    CHECK(flight.records[1].started_at == 0);
}

TEST_CASE("the recorder keeps the last 4096 operations, in order") {
    FlightRecorder recorder({});
    const auto oldest = recorder.queued(all_reduce_number(0), 4);
    for (uint64_t i = 1; i < kFlightRecords + 5; ++i)
        recorder.queued(all_reduce_number(i), 4);
    recorder.finished(oldest, "", 1);  // overwritten: must change no other record
    const Flight flight = recorder.snapshot();
    CHECK(flight.head.recorded == kFlightRecords + 5);
    REQUIRE(flight.records.size() == kFlightRecords);
    for (size_t i = 0; i < kFlightRecords; ++i) {
        REQUIRE(flight.records[i].collective.sequence == i + 5);
        REQUIRE(flight.records[i].state == State::kQueued);
    }
}

TEST_CASE("a copy of the dump has the operation, its times and its state") {
    const Folder folder;
    FlightRecorder recorder({.rank = 1, .world_size = 2, .backend = "ring"});
    const auto id = recorder.queued(
        {.operation = Operation::kRecv, .dtype = DType::kInt64, .count = 3}, 24, 0, 9);
    recorder.started(id);
    const std::string path = recorder.copy_to(folder.path(), "because");
    CHECK(contains(path, "-rank1.dump"));
    CHECK(folder.names().size() == 1);
    recorder.finished(id, "", flight_now());  // does not change the copy

    const Flight flight = read_dump_file(path);
    CHECK(flight.head.reason == "because");
    CHECK(flight.head.world_size == 2);
    REQUIRE(flight.records.size() == 1);
    FlightRecord record = flight.records[0];
    CHECK(describe(record) == "recv from rank 0 (tag 9, 3 int64)");
    record.tag = kReleasedTag;
    CHECK(describe(record) == "recv from rank 0 (tag kReleasedTag, 3 int64)");
    CHECK(record.state == State::kStarted);
    CHECK(record.bytes == 24);
    CHECK(record.started_at >= record.queued_at);
    CHECK(flight.head.seen_at >= record.started_at);
    CHECK(record.queued_at + flight.head.wall_offset > 1'600'000'000'000'000'000);
    CHECK(recorder.snapshot().head.seen_at == 0);  // the recorder itself is still running
}

TEST_CASE("a copy that cannot be written leaves nothing behind") {
    const Folder folder;
    FlightRecorder recorder({});
    std::filesystem::create_directory(folder / "flight-local-rank0.dump");
    const auto copy = [&](const std::string& to) {
        return mini::test::message_of<BadFile>([&] { recorder.copy_to(to, "because"); });
    };
    CHECK(contains(copy(folder.path()), "flight-local-rank0.dump: exists and is not"));
    CHECK(folder.names().size() == 1);
    CHECK(contains(copy("/dev/null/flight"), "/dev/null/flight"));
}

TEST_CASE("note_end writes the time of a rank's end into its dump file") {
    const FlightDir dir;
    const std::string path = dir.folder / "flight-local-rank0.dump";
    { FlightRecorder recorder({}); }
    CHECK(read_dump_file(path).head.seen_at == 0);
    const int64_t before = flight_now();
    note_end(path);
    const Flight flight = read_dump_file(path);
    // The system clock may be set meanwhile, but by less than an hour.
    CHECK(std::abs(flight.head.seen_at - before) < 3600 * int64_t{1'000'000'000});
    CHECK(flight.head.reason.empty());
    std::filesystem::remove(path);
    CHECK(contains(mini::test::message_of<BadFile>([&] { note_end(path); }), path));
}

TEST_CASE("with MINI_FLIGHT_DIR the records are in a file that outlives the rank") {
    const FlightDir dir;
    const pid_t child = fork();
    if (child == 0) {
        // The child has only the thread that called fork. It records and then is killed.
        FlightRecorder recorder({.rank = 3, .world_size = 4});
        recorder.started(recorder.queued(all_reduce_number(5), 40));
        raise(SIGKILL);
    }
    REQUIRE(child > 0);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(dir.folder.names() == std::vector<std::string>{"flight-local-rank3.dump"});
    const Flight flight = read_dump_file(dir.folder / "flight-local-rank3.dump");
    CHECK(flight.head.pid == child);
    REQUIRE(flight.records.size() == 1);
    CHECK(flight.records[0].state == State::kStarted);
}

TEST_CASE("records with an invalid time or state are left out") {
    const auto dump = std::make_unique<FlightDump>();
    begin_dump(*dump, {.run = "run", .group = "default", .backend = "", .host = ""});
    for (uint64_t i = 0; i < 5; ++i) dump->records[i].number = i + 1;
    dump->records[1].queued_at = std::numeric_limits<int64_t>::max();
    dump->records[2].started_at = -1;
    dump->records[3].ended_at = std::numeric_limits<int64_t>::min();
    dump->records[4].state = static_cast<State>(9);
    const Flight flight = read_dump(*dump);
    REQUIRE(flight.records.size() == 1);
    CHECK(flight.records[0].number == 1);
}

TEST_CASE("a folder that cannot be written leaves the recorder in memory") {
    setenv("MINI_FLIGHT_DIR", "/dev/null/flight", 1);
    FlightRecorder recorder({});
    recorder.queued(all_reduce_number(0), 4);
    recorder.note_failure("a reason");
    unsetenv("MINI_FLIGHT_DIR");
    CHECK(recorder.path().empty());
    CHECK(recorder.snapshot().records.size() == 1);
    CHECK(recorder.snapshot().head.reason == "a reason");
}

TEST_CASE("a group records its operations and the reason of its failure") {
    const std::string kind = GENERATE("threads", "tcp");
    const FlightDir dir;
    {
        const auto groups = dist::test::make_groups(kind, 3);
        const auto failures = dist::test::on_ranks(3, [&](int rank) {
            const auto& group = groups[static_cast<size_t>(rank)];
            Tensor tensor = Tensor::full({10}, 1.0f);
            group->all_reduce(tensor);
            if (rank == 1) return group->abandon("rank 1 has had enough");
            group->barrier();
        });
        CHECK(failures[0] != nullptr);
    }
    // Rank 0 was in the barrier; rank 1 never called it.
    const Flight first = read_dump_file(dir.folder / "flight-local-rank0.dump");
    CHECK(first.head.blamed == 1);
    CHECK(contains(first.head.reason, "rank 1"));
    REQUIRE(first.records.size() == 2);
    CHECK(first.records[0].state == State::kFinished);
    CHECK(std::string(first.records[0].algorithm) != "");
    CHECK(describe(first.records[1]) == "barrier #1");
    CHECK(first.records[1].state == State::kFailed);
    CHECK(first.records[1].started_at > 0);
    CHECK(first.head.seen_at >= first.records[1].ended_at);
    const Flight second = read_dump_file(dir.folder / "flight-local-rank1.dump");
    CHECK(second.records.size() == 1);
    CHECK(second.head.reason == "rank 1 has had enough");
}

TEST_CASE("the dumps of a subgroup have its name and members and the ranks of the job") {
    const FlightDir dir;
    {
        const auto groups = make_threads_groups(4, dist::test::kLong);
        dist::test::on_ranks(4, [&](int rank) {
            ProcessGroup& world = *groups[static_cast<size_t>(rank)];
            const auto low = world.new_group({0, 1}), high = world.new_group({2, 3});
            const auto mixed = world.new_group({3, 1});
            if (mixed) mixed->broadcast(Tensor::zeros({1}), 0);
            if (rank == 1) mixed->send(Tensor::zeros({1}), 0, 7);
            if (rank == 3) mixed->recv(Tensor::zeros({1}), 1, 7);
            if (rank == 3) dynamic_cast<QueuedGroup&>(*mixed).abandon("a reason");
            if (rank == 1) mixed->barrier();
        });
    }
    CHECK(dir.folder.names() ==
          std::vector<std::string>{
              "flight-local-rank0-group_1.dump", "flight-local-rank0.dump",
              "flight-local-rank1-group_1.dump", "flight-local-rank1-group_3.dump",
              "flight-local-rank1.dump", "flight-local-rank2-group_2.dump",
              "flight-local-rank2.dump", "flight-local-rank3-group_2.dump",
              "flight-local-rank3-group_3.dump", "flight-local-rank3.dump"});
    CHECK(read_dump_file(dir.folder / "flight-local-rank3.dump").head.members.empty());
    const Flight flight = read_dump_file(dir.folder / "flight-local-rank1-group_3.dump");
    CHECK(flight.head.group == "group 3");
    CHECK(flight.head.rank == 1);
    CHECK(flight.head.world_rank == 1);
    CHECK(flight.head.members == std::vector<int>{3, 1});
    CHECK(flight.head.blamed == 3);
    std::vector<std::string> calls;
    for (const FlightRecord& record : flight.records) calls.push_back(describe(record));
    CHECK(calls ==
          std::vector<std::string>{"barrier #0", "broadcast #1 (1 float32 from rank 3)",
                                   "send to rank 3 (tag 7, 1 float32)", "barrier #2"});
}

TEST_CASE("SIGUSR1 copies every rank's dump and has no handler without a group") {
    const FlightDir dir("TMPDIR");
    {
        const auto groups = dist::test::make_groups("threads", 2);
        struct sigaction now {};
        sigaction(SIGUSR1, nullptr, &now);
        REQUIRE(now.sa_handler != SIG_DFL);
        raise(SIGUSR1);
        const Deadline deadline = deadline_after(dist::test::kLong);
        for (const char* name : {"flight-local-rank0.dump", "flight-local-rank1.dump"})
            while (!std::filesystem::exists(dir.folder / name) && !has_passed(deadline))
                std::this_thread::yield();
        CHECK(read_dump_file(dir.folder / "flight-local-rank1.dump").head.reason ==
              "SIGUSR1");
    }
    struct sigaction after {};
    sigaction(SIGUSR1, nullptr, &after);
    CHECK(after.sa_handler == SIG_DFL);
}

TEST_CASE("a program's own handler of SIGUSR1 is kept") {
    signal(SIGUSR1, SIG_IGN);
    {
        FlightRecorder recorder({});
        raise(SIGUSR1);
    }
    CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
}

TEST_CASE("threads can record and take snapshots concurrently") {
    FlightRecorder recorder({});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < 3000; ++i) {
                const auto id = recorder.queued(all_reduce_number(i), 4);
                recorder.started(id);
                recorder.finished(id, "", flight_now());
                if (i % 1000 == 0) recorder.snapshot();
            }
        });
    for (std::thread& thread : threads) thread.join();
    const Flight flight = recorder.snapshot();
    CHECK(flight.head.recorded == 12000);
    for (const FlightRecord& record : flight.records)
        REQUIRE(record.state == State::kFinished);
}
