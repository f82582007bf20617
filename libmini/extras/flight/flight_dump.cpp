#include "libmini/extras/flight/flight_dump.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/tags.hpp"
#include "libmini/io/file.hpp"

namespace mini::dist {
namespace {

constexpr char kMagic[8] = "MINIFLT";

template <size_t N>
void put_text(char (&buffer)[N], const std::string& text) {
    const size_t length = std::min(text.size(), N - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
}

template <size_t N>
std::string get_text(const char (&buffer)[N]) {
    return {buffer, strnlen(buffer, N)};
}

// 146 years in nanoseconds: the sum with the time of day does not overflow.
constexpr int64_t kTimeLimit = int64_t{1} << 62;

bool is_time(int64_t nanoseconds) { return nanoseconds >= 0 && nanoseconds < kTimeLimit; }

// Returns whether a record is valid: a kill may have interrupted its write.
bool is_valid(const FlightRecord& record) {
    const Collective& c = record.collective;
    return c.operation <= Operation::kRecv && c.dtype <= DType::kBFloat16 &&
           c.reduce_op <= ReduceOp::kMax && c.algorithm <= Algorithm::kSharedMemory &&
           record.state <= FlightRecord::State::kFailed && is_time(record.queued_at) &&
           is_time(record.started_at) && is_time(record.ended_at);
}

bool has_valid_members(const FlightDump& dump) {
    const auto is_rank = [](int32_t rank) {
        return rank >= 0 && rank < kMostFlightRanks;
    };
    if (dump.member_count == 0) return is_rank(dump.world_rank);
    return dump.member_count == dump.world_size &&
           dump.member_count <= kMostFlightMembers &&
           std::all_of(dump.members, dump.members + dump.member_count, is_rank) &&
           dump.members[dump.rank] == dump.world_rank;
}

bool is_valid(const FlightDump& dump) {
    return std::memcmp(dump.magic, kMagic, sizeof kMagic) == 0 &&
           dump.size == sizeof(FlightDump) && dump.world_size <= kMostFlightRanks &&
           dump.rank >= 0 && dump.rank < dump.world_size && has_valid_members(dump) &&
           dump.pid >= 0 && dump.restart >= 0 && dump.wall_offset > -kTimeLimit &&
           dump.wall_offset < kTimeLimit && is_time(dump.seen_at);
}

// Replaces control characters in a UTF-8 text by "?", so that it can be printed on a
// terminal.
std::string clean(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const auto next =
            static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        const bool is_c1 = c == 0xC2 && next < 0xA0;  // U+0080 to U+009F, in two bytes
        result += c < 32 || c == 127 || is_c1 ? '?' : text[i];
        if (is_c1) ++i;
    }
    return result;
}

int64_t wall_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

bool is_point(const FlightRecord& record) {
    const Operation operation = record.collective.operation;
    return operation == Operation::kSend || operation == Operation::kRecv;
}

std::string describe(const FlightRecord& record) {
    const Collective& c = record.collective;
    if (!is_point(record)) return describe(c);
    return concat(operation_name(c.operation),
                  c.operation == Operation::kSend ? " to " : " from ",
                  record.peer < 0 ? "any rank" : concat("rank ", record.peer), " (tag ",
                  tag_name(record.tag), ", ", c.count, " ", c.dtype, ")");
}

int64_t flight_now() {
    const auto now = Clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void begin_dump(FlightDump& dump, const FlightHead& head) {
    dump.size = sizeof(FlightDump);
    dump.rank = head.rank;
    dump.world_size = head.world_size;
    dump.world_rank = head.world_rank < 0 ? head.rank : head.world_rank;
    if (head.members.size() <= kMostFlightMembers) {
        dump.member_count = static_cast<int32_t>(head.members.size());
        std::ranges::copy(head.members, dump.members);
    }
    dump.pid = head.pid;
    dump.restart = head.restart;
    dump.wall_offset = wall_now() - flight_now();
    put_text(dump.run, head.run);
    put_text(dump.group, head.group);
    put_text(dump.backend, head.backend);
    put_text(dump.host, head.host);
    dump.blamed = head.blamed;
    std::memcpy(dump.magic, kMagic, sizeof kMagic);
}

void put_reason(FlightDump& dump, const std::string& reason, int blamed) {
    if (dump.reason[0] != '\0') return;
    put_text(dump.reason, reason);
    dump.blamed = blamed;
    dump.seen_at = flight_now();
}

Flight read_dump(const FlightDump& dump) {
    Flight flight{.file = "",
                  .head = {.run = get_text(dump.run),
                           .group = get_text(dump.group),
                           .backend = get_text(dump.backend),
                           .host = get_text(dump.host),
                           .rank = dump.rank,
                           .world_size = dump.world_size,
                           .world_rank = dump.world_rank,
                           .members = {dump.members, dump.members + dump.member_count},
                           .pid = dump.pid,
                           .restart = dump.restart,
                           .wall_offset = dump.wall_offset,
                           .seen_at = dump.seen_at,
                           .recorded = dump.recorded,
                           .blamed = dump.blamed,
                           .reason = get_text(dump.reason)},
                  .records = {}};
    for (const FlightRecord& record : dump.records)
        if (record.number != 0 && is_valid(record)) flight.records.push_back(record);
    std::sort(flight.records.begin(), flight.records.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return flight;
}

Flight read_dump_file(const std::string& path) {
    auto dump = std::make_unique<FlightDump>();
    const io::InputFile file(path);
    const bool has_size_of_dump = file.size() == sizeof(FlightDump);
    if (has_size_of_dump) file.read(0, std::as_writable_bytes(std::span(dump.get(), 1)));
    if (!has_size_of_dump || !is_valid(*dump))
        throw BadFile(path, ": not a flight recorder's dump of this version of libmini");
    Flight flight = read_dump(*dump);
    flight.file = path;
    for (std::string* text : {&flight.head.run, &flight.head.group, &flight.head.backend,
                              &flight.head.host, &flight.head.reason})
        *text = clean(*text);
    return flight;
}

int64_t now_of(const FlightHead& head) { return wall_now() - head.wall_offset; }

void note_end(const std::string& path) {
    const int64_t now = now_of(read_dump_file(path).head);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && ::pwrite(fd, &now, sizeof now,
                                             offsetof(FlightDump, seen_at)) == sizeof now;
    const int reason_number = errno;
    if (fd >= 0) ::close(fd);
    if (!written) throw BadFile(path, ": ", system_message("write", reason_number));
}

std::string flight_file_name(const FlightHead& head) {
    std::string name = concat("flight-", head.run, "-rank", head.world_rank);
    if (head.group != "default") name += concat("-", head.group);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("-._", c))
            c = '_';
    return name + ".dump";
}

}  // namespace mini::dist
