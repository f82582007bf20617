// The target of mini flight: reads the dump files of flight recorders and reports on them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/extras/flight/flight_diagnosis.hpp"
#include "libmini/extras/flight/flight_dump.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"

namespace mini::fuzz {
namespace {

using dist::FlightDump;
using dist::FlightRecord;

void report_all(std::vector<dist::Flight> flights) {
    for (const tools::GroupFlight& group : tools::by_group(std::move(flights))) {
        tools::tell(group);
        tools::flight_table(group);
    }
}

// Returns a dump of rank 1 with one operation in each state, and the reason why its group
// ended.
std::unique_ptr<FlightDump> some_dump() {
    auto dump = std::make_unique<FlightDump>();
    std::memset(static_cast<void*>(dump.get()), 0, sizeof *dump);  // as in mapped memory
    dist::begin_dump(*dump, {.run = "3f2a",
                             .group = "default",
                             .backend = "ring",
                             .host = "node01",
                             .rank = 1,
                             .world_size = 3,
                             .pid = 4711});
    for (uint64_t i = 0; i < 4; ++i) {
        FlightRecord& record = dump->records[i];
        record.number = i + 1;
        record.collective = {
            .operation = dist::Operation::kAllReduce, .count = 100, .sequence = i};
        record.state = static_cast<FlightRecord::State>((i + 2) % 4);
        record.queued_at = record.started_at = static_cast<int64_t>(1000 * i + 1);
        record.ended_at = i < 2 ? record.started_at + 10 : 0;
    }
    dump->records[3].collective.operation = dist::Operation::kSend;
    dump->records[3].peer = 2;
    dump->recorded = 4;
    dist::put_reason(*dump, "rank 2 is gone", 2);
    return dump;
}

// Returns the bytes of a dump up to the last nonzero byte.
std::string beginning_of(const FlightDump& dump) {
    std::string bytes = text_of_object(dump);
    bytes.resize(bytes.find_last_not_of('\0') + 1);
    return bytes;
}

// Returns a dump of rank 1 and a dump of rank 0.
Seeds flight_dump_seeds() {
    const auto dump = some_dump();
    const std::string of_rank1 = beginning_of(*dump);
    dump->rank = 0;
    dump->records[2].number = 0;
    return {of_rank1, beginning_of(*dump)};
}

// Reads a dump that consists of `input` followed by zeros.
dist::Flight read(Input input) {
    static MemoryFile file;
    std::string dump = text_of(input.first(std::min(input.size(), sizeof(FlightDump))));
    dump.resize(sizeof(FlightDump));
    file.set(bytes_of(dump));
    return tools::read_flight(file.path());
}

// Reads a dump, and reports on it, alone and with another rank's dump.
void run_flight_dump(Input input) {
    static const std::string other = flight_dump_seeds().back();
    const dist::Flight flight = read(input);
    report_all({flight});
    report_all({flight, read(bytes_of(other))});
}

// Corrects the start of a dump, and reduces its world size below 64, since a report on a
// million ranks takes long.
void repair_dump(std::string& bytes) {
    constexpr size_t kRankOffset = offsetof(FlightDump, rank);
    constexpr size_t kWorldOffset = offsetof(FlightDump, world_size);
    static const std::string good = flight_dump_seeds().front();
    int32_t world_size = 0;
    if (bytes.size() < kWorldOffset + sizeof world_size) return;
    bytes.replace(0, kRankOffset, good, 0, kRankOffset);
    std::memcpy(&world_size, bytes.data() + kWorldOffset, sizeof world_size);
    world_size &= 63;
    std::memcpy(bytes.data() + kWorldOffset, &world_size, sizeof world_size);
}

}  // namespace

std::vector<Target> flight_targets() {
    return {{"flight_dump", run_flight_dump, flight_dump_seeds(), repair_dump}};
}

}  // namespace mini::fuzz
