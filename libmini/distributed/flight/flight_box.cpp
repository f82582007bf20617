#include "libmini/distributed/flight/flight_box.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/distributed/net/clock.hpp"
#include "libmini/io/file.hpp"

namespace mini::dist {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kMagic[8] = "MINIBOX";

template <size_t N>
void put_text(char (&place)[N], const std::string& text) {
    const size_t length = std::min(text.size(), N - 1);
    std::memcpy(place, text.data(), length);
    place[length] = '\0';
}

template <size_t N>
std::string get_text(const char (&place)[N]) {
    return {place, strnlen(place, N)};
}

// 146 years of a monotonic clock: sums with the time of day do not overflow.
bool is_time(int64_t nanoseconds) {
    return nanoseconds >= 0 && nanoseconds <= int64_t{1} << 62;
}

// Whether a record that may have been cut short by a kill can be believed.
bool is_whole(const FlightRecord& record) {
    const Collective& c = record.collective;
    return c.operation <= Operation::kRecv && c.dtype <= DType::kBFloat16 &&
           c.reduce_op <= ReduceOp::kMax && c.algorithm <= Algorithm::kHierarchical &&
           record.state <= FlightRecord::State::kFailed && is_time(record.queued_at) &&
           is_time(record.started_at) && is_time(record.ended_at);
}

bool is_whole(const FlightBox& box) {
    return std::memcmp(box.magic, kMagic, sizeof kMagic) == 0 &&
           box.size == sizeof(FlightBox) && box.world_size <= kMostFlightRanks &&
           box.rank >= 0 && box.rank < box.world_size && box.pid >= 0 && box.restart >= 0;
}

Json head_line(const FlightHead& head, const std::string& occasion, int64_t now) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const int64_t wall_now =
        std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() -
        (flight_now() - now);
    return {{"flight", 1},
            {"run", head.run},
            {"restart", head.restart},
            {"group", head.group},
            {"backend", head.backend},
            {"rank", head.rank},
            {"world_size", head.world_size},
            {"host", head.host},
            {"pid", head.pid},
            {"reason", head.reason.empty() ? occasion : head.reason},
            {"blamed", head.blamed},
            {"recorded", head.recorded},
            {"monotonic_ns", now},
            {"wall_ns", wall_now}};
}

// `wall`: what to add to a monotonic time to have the time of day.
Json record_line(const FlightRecord& record, int64_t wall) {
    const Collective& c = record.collective;
    Json line = {{"number", record.number}, {"operation", operation_name(c.operation)}};
    if (is_point(c.operation)) {
        line.update({{"peer", record.peer}, {"tag", record.tag}});
    } else {
        line.update({{"sequence", c.sequence}, {"root", c.root}});
    }
    line.update({{"what", describe(record)},
                 {"dtype", dtype_name(c.dtype)},
                 {"count", c.count},
                 {"reduce_op", reduce_op_name(c.reduce_op)},
                 {"bytes", record.bytes},
                 {"algorithm", get_text(record.algorithm)},
                 {"state", state_name(record.state)},
                 {"queued_ns", record.queued_at},
                 {"started_ns", record.started_at},
                 {"ended_ns", record.ended_at},
                 {"queued_wall_ns", record.queued_at + wall}});
    return line;
}

void write_whole(int fd, const std::string& text, const std::string& path) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Error(concat(path, ": ", system_message("write", errno)));
        done += static_cast<size_t>(count);
    }
}

}  // namespace

const char* state_name(FlightRecord::State state) {
    switch (state) {
        case FlightRecord::State::kQueued: return "queued";
        case FlightRecord::State::kStarted: return "started";
        case FlightRecord::State::kFinished: return "finished";
        case FlightRecord::State::kFailed: return "failed";
    }
    return "unknown";
}

bool is_point(Operation operation) {
    return operation == Operation::kSend || operation == Operation::kRecv;
}

std::string describe(const FlightRecord& record) {
    const Collective& c = record.collective;
    if (!is_point(c.operation)) return describe(c);
    return concat(operation_name(c.operation),
                  c.operation == Operation::kSend ? " to " : " from ",
                  record.peer < 0 ? "any rank" : concat("rank ", record.peer), " (tag ",
                  record.tag, ", ", c.count, " ", c.dtype, ")");
}

int64_t flight_now() {
    const auto now = Clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void begin_box(FlightBox& box, const FlightHead& head) {
    box.size = sizeof(FlightBox);
    box.rank = head.rank;
    box.world_size = head.world_size;
    box.pid = head.pid;
    box.restart = head.restart;
    put_text(box.run, head.run);
    put_text(box.group, head.group);
    put_text(box.backend, head.backend);
    put_text(box.host, head.host);
    box.blamed = head.blamed;
    std::memcpy(box.magic, kMagic, sizeof kMagic);
}

void put_reason(FlightBox& box, const std::string& reason, int blamed) {
    if (box.reason[0] != '\0') return;
    put_text(box.reason, reason);
    box.blamed = blamed;
}

Flight read_box(const FlightBox& box) {
    Flight flight{.head = {.run = get_text(box.run),
                           .group = get_text(box.group),
                           .backend = get_text(box.backend),
                           .host = get_text(box.host),
                           .rank = box.rank,
                           .world_size = box.world_size,
                           .pid = box.pid,
                           .restart = box.restart,
                           .recorded = box.recorded,
                           .blamed = box.blamed,
                           .reason = get_text(box.reason)},
                  .records = {}};
    for (const FlightRecord& record : box.records)
        if (record.number != 0 && is_whole(record)) flight.records.push_back(record);
    std::sort(flight.records.begin(), flight.records.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    return flight;
}

Flight read_box_file(const std::string& path) {
    auto box = std::make_unique<FlightBox>();
    const io::InputFile file(path);
    const bool fits = file.size() == sizeof(FlightBox);
    if (fits) file.read(0, std::as_writable_bytes(std::span(box.get(), 1)));
    if (!fits || !is_whole(*box))
        throw BadFile(
            concat(path, ": no flight recorder's box of this version of libmini"));
    return read_box(*box);
}

void write_dump(const std::string& path, const Flight& flight,
                const std::string& occasion, int64_t now) {
    constexpr auto kReplace = Json::error_handler_t::replace;  // what is not UTF-8
    const Json head = head_line(flight.head, occasion, now);
    const int64_t wall = head["wall_ns"].get<int64_t>() - now;
    std::string text = head.dump(-1, ' ', false, kReplace) + "\n";
    for (const FlightRecord& record : flight.records)
        text += record_line(record, wall).dump(-1, ' ', false, kReplace) + "\n";

    // Write beside it, then rename, so that half a dump is never read.
    const std::string draft = concat(path, ".", ::getpid(), ".tmp");
    ::unlink(draft.c_str());
    const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) throw Error(concat(draft, ": ", system_message("open", errno)));
    try {
        write_whole(fd, text, draft);
        ::close(fd);
    } catch (...) {
        ::close(fd);
        ::unlink(draft.c_str());
        throw;
    }
    if (::rename(draft.c_str(), path.c_str()) != 0) {
        const int reason_number = errno;
        ::unlink(draft.c_str());
        throw Error(concat(path, ": ", system_message("rename", reason_number)));
    }
}

std::string flight_file_name(const FlightHead& head, int world_rank) {
    std::string name = concat("flight-", head.run, "-rank", world_rank);
    if (head.group != "default") name += concat("-", head.group);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("-._", c))
            c = '_';
    return name;
}

}  // namespace mini::dist
