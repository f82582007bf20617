// The black box of a rank: its last 4,096 operations as plain data, one block of memory,
// written in place. With MINI_FLIGHT_DIR it is a file mapped into memory, so that it
// outlives the rank, kill -9 included. `mini flight` reads box files, and writes them as
// JSON lines.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

/// One operation of a rank. Times are nanoseconds on the monotonic clock; 0: not yet.
struct FlightRecord {
    enum class State : uint8_t { kQueued, kStarted, kFinished, kFailed };

    uint64_t number = 0;    // 1 for the rank's first operation
    Collective collective;  // of send and recv: operation, dtype and count
    int32_t peer = -1;      // of send and recv
    State state = State::kQueued;
    uint64_t tag = 0;    // of send and recv
    uint64_t bytes = 0;  // of one rank's tensor
    int64_t queued_at = 0;
    int64_t started_at = 0;
    int64_t ended_at = 0;
    char algorithm[24] = {};  // what an all_reduce ran
};

/// "queued", "started", "finished", "failed".
const char* state_name(FlightRecord::State state);

/// "all_reduce #57 (sum of 21840 float32)", "send to rank 1 (tag 7, 100 float32)".
std::string describe(const FlightRecord& record);

/// Whether `operation` goes from rank to rank, beside the numbered ones.
bool is_point(Operation operation);

constexpr size_t kFlightRecords = 4096;
constexpr int kMostFlightRanks = 1'000'000;  // a larger world size is damage

/// What lies in the box, the same in memory and in the file; texts end with NUL.
struct FlightBox {
    char magic[8];
    uint64_t size;  // of the whole box
    int32_t rank;
    int32_t world_size;
    int64_t pid;
    int64_t restart;
    int64_t wall_offset;  // time of day less the monotonic clock, in nanoseconds
    int64_t seen_at;      // when the group failed, the rank ended or this copy was made;
                          // 0: the rank may still be recording
    uint64_t recorded;    // operations so far, those that fell out included
    char run[64];
    char group[32];
    char backend[16];
    char host[64];
    int32_t blamed;                        // the rank whose loss ended the group, else -1
    char reason[252];                      // why the group ended, "" while it has not
    FlightRecord records[kFlightRecords];  // operation n at (n - 1) modulo kFlightRecords
};

/// What a box is about.
struct FlightHead {
    std::string run;
    std::string group;
    std::string backend;
    std::string host;
    int rank = 0;
    int world_size = 1;
    int64_t pid = 0;
    int64_t restart = 0;
    int64_t wall_offset = 0;
    int64_t seen_at = 0;
    uint64_t recorded = 0;
    int blamed = -1;
    std::string reason = "";
};

struct Flight {
    FlightHead head;
    std::vector<FlightRecord> records;  // oldest first
};

/// Nanoseconds on the monotonic clock.
int64_t flight_now();

/// An empty box. `box` is zeroed memory.
void begin_box(FlightBox& box, const FlightHead& head);

/// Notes why the group ended, and that it was now: the first reason stands.
void put_reason(FlightBox& box, const std::string& reason, int blamed);

/// What a box holds, without records that cannot be: a kill may have cut one short.
Flight read_box(const FlightBox& box);

/// The same of a file. Does not block on a pipe. Throws BadFile, one line, unless `path` is
/// a regular file with a whole box. Texts are as they lie in the file: any bytes.
Flight read_box_file(const std::string& path);

/// Now on the monotonic clock of the box's host, by the time of day here.
int64_t now_of(const FlightHead& head);

/// Notes in a box file that its rank has ended by now. Throws BadFile.
void note_end(const std::string& path);

/// "flight-3f2a-rank1.box": the name of a rank's box file.
std::string flight_file_name(const FlightHead& head, int world_rank);

}  // namespace mini::dist
