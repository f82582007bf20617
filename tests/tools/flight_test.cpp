// Reading dumps strictly, and what those of all ranks say together.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "libmini/tools/mini/flight_story.hpp"
#include "libmini/tools/mini/flight_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/read_file.hpp"
#include "tests/tools/answer.hpp"

using mini::dist::Flight;
using mini::dist::FlightRecord;
using mini::dist::Operation;
using mini::test::contains;
using mini::test::Folder;
using mini::test::message_of;
using mini::tools::by_group;
using mini::tools::GroupFlight;
using mini::tools::RankFlight;
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

// The group of these flights, after a way through files, 4.2 s after the epoch.
GroupFlight group_of(const std::vector<Flight>& flights) {
    const Folder folder;
    std::vector<RankFlight> read;
    for (const Flight& flight : flights) {
        const std::string path = folder / std::to_string(flight.head.rank) + ".json";
        write_dump(path, flight, "test", kSecond * 42 / 10);
        read.push_back(mini::tools::read_flight(path));
    }
    return by_group(read).at(0);
}

// What the reader says to a file of this text.
std::string flight_complaint(const std::string& text) {
    const Folder folder;
    std::ofstream(folder / "flight-x.json", std::ios::binary) << text;
    return message_of<mini::BadFile>(
        [&] { mini::tools::read_flight(folder / "flight-x.json"); });
}

std::string good_dump() {
    const Folder folder;
    write_dump(folder / "a.json",
               flight_of(0, 2, {record(0, Operation::kBarrier, State::kFinished)}),
               "test", kSecond);
    return mini::test::read_file(folder / "a.json");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    REQUIRE(contains(text, from));
    return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("who has not called an operation that others are in is named") {
    const auto done = record(56, Operation::kBarrier, State::kFinished);
    const auto in_it = record(57, Operation::kAllReduce, State::kStarted);
    const auto story =
        tell(group_of({flight_of(0, 4, {done, in_it}), flight_of(1, 4, {done}),
                       flight_of(2, 4, {done, in_it}), flight_of(3, 4, {done, in_it})}));
    REQUIRE(story.size() == 1);
    CHECK(story[0] ==
          "all_reduce #57 (sum of 10 float32): ranks 0, 2 and 3 are in it for 3.2 s; "
          "rank 1 "
          "finished barrier #56 and has not called it");
}

TEST_CASE("ranks that queued it, that are past it and that left no dump are told apart") {
    const auto story =
        tell(group_of({flight_of(0, 4,
                                 {record(8, Operation::kReduce, State::kFinished),
                                  record(9, Operation::kBarrier, State::kStarted)}),
                       flight_of(1, 4, {record(8, Operation::kReduce, State::kFailed)}),
                       flight_of(3, 4,
                                 {record(7, Operation::kBarrier, State::kFinished),
                                  record(8, Operation::kReduce, State::kQueued)})}));
    REQUIRE(story.size() == 2);
    CHECK(contains(story[0], "reduce #8"));
    CHECK(contains(story[0], "rank 1 was in it for 100.0 ms until it failed"));
    CHECK(contains(story[0], "rank 3 finished barrier #7 and has it queued, not begun"));
    CHECK(contains(story[0], "rank 0 finished it"));
    CHECK(contains(story[1], "no dump of rank 2"));
}

TEST_CASE("different operations of one number are shown on both sides, and first") {
    const auto story = tell(
        group_of({flight_of(0, 3, {record(5, Operation::kAllReduce, State::kStarted)}),
                  flight_of(1, 3, {record(5, Operation::kBarrier, State::kStarted)}),
                  flight_of(2, 3, {record(5, Operation::kAllReduce, State::kStarted)})}));
    CHECK(story[0] ==
          "operation #5 is not the same on all ranks: ranks 0 and 2 called all_reduce #5 "
          "(sum "
          "of 10 float32); rank 1 called barrier #5");
}

TEST_CASE("a message that waits for its peer is named") {
    FlightRecord point = record(0, Operation::kRecv, State::kStarted);
    point.peer = 1;
    point.tag = 7;
    const auto story = tell(group_of({flight_of(0, 1, {point})}));
    CHECK(story == std::vector<std::string>{
                       "rank 0 is in recv from rank 1 (tag 7, 10 float32) for 3.2 s"});
}

TEST_CASE("when nothing is under way, ranks that came to different places are told") {
    const auto first = record(1, Operation::kBarrier, State::kFinished);
    const auto second = record(2, Operation::kBarrier, State::kFinished);
    CHECK(
        contains(tell(group_of({flight_of(0, 2, {first}), flight_of(1, 2, {first})}))[0],
                 "all finished is barrier #1"));
    const auto story =
        tell(group_of({flight_of(0, 2, {first}), flight_of(1, 2, {first, second})}));
    CHECK(contains(story[0], "rank 0 finished barrier #1; rank 1 finished barrier #2"));
}

TEST_CASE("the table has a row an operation and a column a rank, wrapped to the screen") {
    const GroupFlight group =
        group_of({flight_of(0, 2, {record(1, Operation::kBarrier, State::kStarted)}),
                  flight_of(1, 2, {record(0, Operation::kBarrier, State::kFinished)})});
    CHECK(flight_table(group, {.width = 80}) ==
          "\n            rank 0          rank 1          \n"
          "barrier #0  done            done 100.0 ms   \n"
          "barrier #1  in it 3.2 s     -               \n");
    CHECK(
        contains(flight_table(group, {.width = 40, .last = 1}), "in it 3.2 s     \n\n"));
    CHECK(contains(flight_table(group, {.colour = true}), "\033[33min it 3.2 s"));
}

TEST_CASE("a damaged dump is refused in one line that names file and line") {
    const std::string good = good_dump();
    REQUIRE(flight_complaint(good).empty());
    const std::string bad = GENERATE_COPY(
        std::string(), std::string("{}\n"), std::string("[1]\n"),
        std::string("\0\xff\n", 3), good.substr(0, good.size() - 1),
        good.substr(0, good.size() / 2), good + "\n",
        good + std::string(1 << 17, 'x') + "\n",
        replaced(good, "\"flight\":1", "\"flight\":2"),
        replaced(good, "\"rank\":0", "\"rank\":2"),
        replaced(good, "\"rank\":0", "\"rank\":-1"),
        replaced(good, "\"rank\":0", "\"rank\":18446744073709551615"),
        replaced(good, "\"rank\":0", "\"rank\":0.5"),
        replaced(good, "\"world_size\":2", "\"world_size\":0"),
        replaced(good, "\"finished\"", "\"done\""), replaced(good, "\"what\"", "\"who\""),
        replaced(good, "\"run\":\"run\"", "\"run\":7"));
    CAPTURE(bad.substr(0, 200));
    CHECK(contains(flight_complaint(bad), "flight-x.json"));
    CHECK_FALSE(contains(flight_complaint(bad), "\n"));
}

TEST_CASE("a dump's text cannot move the terminal's cursor") {
    Flight flight = flight_of(0, 1, {record(0, Operation::kBarrier, State::kFinished)});
    flight.head.run = "a\033[2Jb\nc";
    CHECK(group_of({flight}).head().run == "a?[2Jb?c");
}

TEST_CASE("a dump that is too long, or no regular file, is refused before it is read") {
    const Folder folder;
    const std::string path = folder / "flight-x.json";
    const auto answer = [&] {
        return message_of<mini::BadFile>([&] { mini::tools::read_flight(path); });
    };
    std::ofstream(path) << "";
    CHECK(contains(answer(), "the file is empty"));
    std::filesystem::resize_file(path, uint64_t{2} << 30);  // all of it a hole
    CHECK(contains(answer(), "2147483648 bytes, more than the 16777216 of the longest"));
    std::filesystem::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    CHECK(contains(answer(), "not a regular file"));
    CHECK(
        contains(message_of<mini::BadFile>([] { mini::tools::read_flight("/dev/zero"); }),
                 "not a regular file"));
}

TEST_CASE("a box's texts are cleaned for the terminal and for JSON") {
    const Folder folder;
    auto box = std::make_unique<mini::dist::FlightBox>();
    begin_box(*box, {.run = "a\033[2Jb\xC2\x9B"
                            "c\xff",
                     .group = "default",
                     .backend = "ring",
                     .host = "k\u00f6ln"});
    std::ofstream(folder / "flight-a.box", std::ios::binary)
        .write(reinterpret_cast<const char*>(box.get()), sizeof *box);
    const RankFlight flight = mini::tools::read_flight(folder / "flight-a.box");
    CHECK(flight.head.run == "a?[2Jb?c\uFFFD");
    CHECK(flight.head.host == "k\u00f6ln");
    const auto answer = mini::test::run_mini("flight --format json " + folder.path());
    CHECK(answer.code == 0);
    CHECK(contains(answer.text, "a?[2Jb?c\uFFFD"));
}

TEST_CASE("two dumps of one rank, or of two world sizes, do not go together") {
    const Flight one = flight_of(0, 2, {}), other = flight_of(1, 3, {});
    CHECK(contains(message_of<mini::BadFile>([&] { group_of({one, one}); }), "rank 0"));
    CHECK(contains(message_of<mini::BadFile>([&] {
                       group_of({one, other});
                   }),
                   "world size"));
}
