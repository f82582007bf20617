// Reading the dumps of the flight recorder, and the findings and table of mini flight.

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "libmini/extras/flight/flight_diagnosis.hpp"
#include "tests/support/answer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using mini::dist::Flight;
using mini::dist::FlightDump;
using mini::dist::FlightRecord;
using mini::dist::Operation;
using mini::test::contains;
using mini::test::Folder;
using mini::test::message_of;
using mini::tools::by_group;
using mini::tools::GroupFlight;
using State = FlightRecord::State;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

FlightRecord record(uint64_t sequence, Operation operation, State state,
                    int64_t started = kSecond) {
    FlightRecord made;
    made.number = sequence + 1;
    made.collective.operation = operation;
    made.collective.sequence = sequence;
    made.collective.count = operation == Operation::kBarrier ? 0 : 10;
    made.state = state;
    made.queued_at = kSecond / 2;
    made.started_at = state == State::kQueued ? 0 : started;
    if (state == State::kFinished || state == State::kFailed)
        made.ended_at = started + kSecond / 10;
    return made;
}

Flight flight_of(int rank, int world_size, std::vector<FlightRecord> records) {
    Flight flight;
    flight.head = {.run = "run",
                   .group = "default",
                   .backend = "ring",
                   .host = "here",
                   .rank = rank,
                   .world_size = world_size};
    flight.head.recorded = records.size();
    flight.records = std::move(records);
    return flight;
}

// Returns the dump of a flight, as copied at a monotonic time of 4.2 s.
std::unique_ptr<FlightDump> dump_of(const Flight& flight) {
    auto dump = std::make_unique<FlightDump>();
    begin_dump(*dump, flight.head);
    std::ranges::copy(flight.records, dump->records);
    dump->recorded = flight.head.recorded;
    dump->wall_offset = 1000 * kSecond;
    dump->seen_at = kSecond * 42 / 10;
    return dump;
}

std::string bytes_of(const FlightDump& dump) {
    return {reinterpret_cast<const char*>(&dump), sizeof dump};
}

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

// Writes the flights to files, reads the files, and returns the group of the flights.
GroupFlight group_of(const std::vector<Flight>& flights) {
    const Folder folder;
    std::vector<Flight> read;
    for (const Flight& flight : flights) {
        const std::string path = folder / std::to_string(flight.head.rank) + ".dump";
        write_file(path, bytes_of(*dump_of(flight)));
        read.push_back(mini::tools::read_flight(path));
    }
    return by_group(read).at(0);
}

// Returns the error message for a file with these bytes, or "" if the file is valid.
std::string read_error(const std::string& bytes) {
    const Folder folder;
    write_file(folder / "flight-x.dump", bytes);
    return message_of<mini::BadFile>(
        [&] { mini::tools::read_flight(folder / "flight-x.dump"); });
}

std::unique_ptr<FlightDump> good_dump() {
    return dump_of(flight_of(0, 2, {record(0, Operation::kBarrier, State::kFinished)}));
}

}  // namespace

TEST_CASE("the findings name a rank that has not called the other ranks' operation") {
    const auto done = record(56, Operation::kBarrier, State::kFinished);
    const auto in_it = record(57, Operation::kAllReduce, State::kStarted);
    const auto sentences =
        tell(group_of({flight_of(0, 4, {done, in_it}), flight_of(1, 4, {done}),
                       flight_of(2, 4, {done, in_it}), flight_of(3, 4, {done, in_it})}));
    REQUIRE(sentences.size() == 1);
    CHECK(
        sentences[0] ==
        "all_reduce #57 (sum of 10 float32): ranks 0, 2 and 3 have been in it for 3.2 s; "
        "rank 1 has not called it (its last finished call: barrier #56)");
}

TEST_CASE(
    "the findings tell apart ranks that queued a call, finished it, or have no dump") {
    const auto sentences =
        tell(group_of({flight_of(0, 4,
                                 {record(8, Operation::kReduce, State::kFinished),
                                  record(9, Operation::kBarrier, State::kStarted)}),
                       flight_of(1, 4, {record(8, Operation::kReduce, State::kFailed)}),
                       flight_of(3, 4,
                                 {record(7, Operation::kBarrier, State::kFinished),
                                  record(8, Operation::kReduce, State::kQueued)})}));
    REQUIRE(sentences.size() == 2);
    CHECK(contains(sentences[0], "reduce #8"));
    CHECK(contains(sentences[0], "rank 1 was in it for 100.0 ms until it failed"));
    CHECK(contains(
        sentences[0],
        "rank 3 has queued it, but not started it (its last finished call: barrier #7)"));
    CHECK(contains(sentences[0], "rank 0 finished it"));
    CHECK(contains(sentences[1], "no dump of rank 2"));
}

TEST_CASE("different operations with one sequence number are the first finding") {
    const GroupFlight group =
        group_of({flight_of(0, 3, {record(5, Operation::kAllReduce, State::kStarted)}),
                  flight_of(1, 3, {record(5, Operation::kBarrier, State::kStarted)}),
                  flight_of(2, 3, {record(5, Operation::kAllReduce, State::kStarted)})});
    CHECK(tell(group) ==
          std::vector<std::string>{
              "operation #5 is not the same on all ranks: ranks 0 and 2 called "
              "all_reduce #5 (sum of 10 float32); rank 1 called barrier #5",
              "operation #5: ranks 0, 1 and 2 have been in it for 3.2 s"});
    // clang-format off
    CHECK(flight_table(group) ==
          "\n"
          "                                   rank 0          rank 1          rank 2          \n"
          "all_reduce #5 (sum of 10 float32)  in it 3.2 s     -               in it 3.2 s     \n"
          "barrier #5                         -               in it 3.2 s     -               \n");
    // clang-format on
}

TEST_CASE("the findings name a receive that waits for its peer") {
    FlightRecord point = record(0, Operation::kRecv, State::kStarted);
    point.peer = 1;
    point.tag = 7;
    const auto sentences = tell(group_of({flight_of(0, 1, {point})}));
    CHECK(sentences ==
          std::vector<std::string>{
              "rank 0 is in recv from rank 1 (tag 7, 10 float32) for 3.2 s"});
}

TEST_CASE("when no operation is running the last finished operations are reported") {
    const auto first = record(1, Operation::kBarrier, State::kFinished);
    const auto second = record(2, Operation::kBarrier, State::kFinished);
    CHECK(
        contains(tell(group_of({flight_of(0, 2, {first}), flight_of(1, 2, {first})}))[0],
                 "all ranks finished is barrier #1"));
    const auto sentences =
        tell(group_of({flight_of(0, 2, {first}), flight_of(1, 2, {first, second})}));
    CHECK(
        contains(sentences[0], "rank 0 finished barrier #1; rank 1 finished barrier #2"));
}

TEST_CASE("the table has one row per operation and one column per rank") {
    const GroupFlight group =
        group_of({flight_of(0, 2, {record(1, Operation::kBarrier, State::kStarted)}),
                  flight_of(1, 2, {record(0, Operation::kBarrier, State::kFinished)})});
    CHECK(flight_table(group) ==
          "\n            rank 0          rank 1          \n"
          "barrier #0  done            done 100.0 ms   \n"
          "barrier #1  in it 3.2 s     -               \n");

    std::vector<FlightRecord> many;
    for (uint64_t i = 0; i < 9; ++i)
        many.push_back(record(i, Operation::kBarrier, State::kFinished));
    const std::string table = flight_table(group_of({flight_of(0, 1, many)}));
    CHECK_FALSE(contains(table, "barrier #0"));  // only the last eight
    CHECK(contains(table, "barrier #1"));
}

TEST_CASE("a file that is not a valid dump is rejected with one line that has its path") {
    const std::string good = bytes_of(*good_dump());
    REQUIRE(read_error(good).empty());
    const auto large = good_dump();
    large->world_size = 1'000'000;
    CHECK(read_error(bytes_of(*large)).empty());

    std::vector<std::string> bad{"",
                                 "{}\n",
                                 std::string("\0\xff\n", 3),
                                 good.substr(0, good.size() - 1),
                                 good.substr(0, good.size() / 2),
                                 good + "\n",
                                 std::string(good.size(), '\0'),
                                 std::string(good.size(), '\xff')};
    using Damage = void (*)(FlightDump&);
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    for (const Damage damage : std::initializer_list<Damage>{
             [](FlightDump& dump) { dump.magic[0] = 'X'; },
             [](FlightDump& dump) { dump.size += 1; },
             [](FlightDump& dump) { dump.rank = 2; },
             [](FlightDump& dump) { dump.rank = -1; },
             [](FlightDump& dump) { dump.world_size = 0; },
             [](FlightDump& dump) { dump.world_size = 1'000'001; },
             [](FlightDump& dump) { dump.world_size = std::numeric_limits<int>::max(); },
             [](FlightDump& dump) { dump.pid = -1; },
             [](FlightDump& dump) { dump.restart = -1; },
             [](FlightDump& dump) { dump.seen_at = -1; },
             [](FlightDump& dump) { dump.seen_at = kMax; },
             [](FlightDump& dump) { dump.wall_offset = kMax; },
             [](FlightDump& dump) { dump.wall_offset = -kMax; }}) {
        const auto dump = good_dump();
        damage(*dump);
        bad.push_back(bytes_of(*dump));
    }
    for (size_t i = 0; i < bad.size(); ++i) {
        CAPTURE(i);
        CHECK(contains(read_error(bad[i]), "flight-x.dump"));
        CHECK_FALSE(contains(read_error(bad[i]), "\n"));
    }
}

TEST_CASE("the time of a rank that may still be running is the current time") {
    const Folder folder;
    auto dump = good_dump();
    dump->seen_at = 0;
    write_file(folder / "a.dump", bytes_of(*dump));
    const Flight flight = mini::tools::read_flight(folder / "a.dump");
    CHECK(flight.head.seen_at + flight.head.wall_offset > 1'600'000'000 * kSecond);
}

TEST_CASE("control characters in a dump's texts are replaced") {
    Flight flight = flight_of(0, 1, {record(0, Operation::kBarrier, State::kFinished)});
    flight.head.run = "a\033[2Jb\nc\xC2\x9B";
    flight.head.host = "k\u00f6ln";
    const GroupFlight group = group_of({flight});
    CHECK(group.head().run == "a?[2Jb?c?");
    CHECK(group.head().host == "k\u00f6ln");
}

TEST_CASE("a file of the wrong size or type is rejected before it is read") {
    const Folder folder;
    const std::string path = folder / "flight-x.dump";
    const auto error = [&] {
        return message_of<mini::BadFile>([&] { mini::tools::read_flight(path); });
    };
    write_file(path, "");
    std::filesystem::resize_file(path, uint64_t{2} << 30);  // sparse
    CHECK(contains(error(), "not a flight recorder's dump"));
    std::filesystem::remove(path);
    CHECK(contains(error(), path));
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK(contains(error(), "not a regular file"));
    CHECK(
        contains(message_of<mini::BadFile>([] { mini::tools::read_flight("/dev/zero"); }),
                 "not a regular file"));
}

TEST_CASE("disjoint and overlapping subgroups are told apart and have the job's ranks") {
    const auto in_group = [](const std::string& name, const std::vector<int>& members,
                             int rank, State state) {
        const int size = static_cast<int>(members.size());
        Flight flight = flight_of(rank, size, {record(3, Operation::kBarrier, state)});
        flight.head.group = name;
        flight.head.members = members;
        flight.head.world_rank = members[static_cast<size_t>(rank)];
        return flight;
    };
    const Folder folder;
    const auto leave = [&](const Flight& flight) {
        write_file(folder / flight_file_name(flight.head), bytes_of(*dump_of(flight)));
    };
    leave(flight_of(0, 4, {record(0, Operation::kBarrier, State::kFinished)}));
    leave(in_group("group 1", {0, 1}, 0, State::kFinished));
    leave(in_group("group 1", {0, 1}, 1, State::kFinished));
    leave(in_group("group 2", {2, 3}, 0, State::kFinished));
    leave(in_group("group 3", {3, 0, 2}, 0, State::kStarted));
    leave(in_group("group 3", {3, 0, 2}, 1, State::kQueued));
    const auto answer = mini::test::run_mini("flight " + folder.path());
    CAPTURE(answer.text);
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "default group, backend ring: 1 of 4 ranks left a dump"));
    CHECK(contains(answer.text, "group 1 of ranks 0 and 1, backend ring: 2 of 2 ranks"));
    CHECK(contains(answer.text, "group 2 of ranks 2 and 3, backend ring: 1 of 2 ranks"));
    CHECK(contains(answer.text, "no dump of rank 3: "));
    CHECK(contains(answer.text, "group 3 of ranks 3, 0 and 2, backend ring: 2 of 3"));
    CHECK(contains(answer.text,
                   "barrier #3: rank 3 has been in it for 3.2 s; rank 0 has "
                   "queued it, but not started it"));
    CHECK(contains(answer.text, "no dump of rank 2: "));
}

TEST_CASE("two dumps of one rank or with different world sizes are an error") {
    const Flight one = flight_of(0, 2, {}), other = flight_of(1, 3, {});
    CHECK(contains(message_of<mini::BadFile>([&] { group_of({one, one}); }), "rank 0"));
    CHECK(contains(message_of<mini::BadFile>([&] {
                       group_of({one, other});
                   }),
                   "world size"));
}
