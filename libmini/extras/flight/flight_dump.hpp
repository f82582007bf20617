// The flight recorder's dump: a rank's last 4,096 operations in one block of plain
// memory, updated in place. With MINI_FLIGHT_DIR the block is a memory-mapped file, so it
// survives the rank's death, even by kill -9. `mini flight` reads dump files.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

/// One operation of a rank. Times are nanoseconds on the monotonic clock; 0 if the event
/// has not happened yet.
struct FlightRecord {
    enum class State : uint8_t { kQueued, kStarted, kFinished, kFailed };

    uint64_t number = 0;    // 1 for the rank's first operation
    Collective collective;  // send and recv set only operation, dtype and count; the root
                            // is a rank of the job
    int32_t peer = -1;      // for send and recv: a rank of the job; -1: any rank
    State state = State::kQueued;
    uint64_t tag = 0;    // for send and recv
    uint64_t bytes = 0;  // size of one rank's tensor
    int64_t queued_at = 0;
    int64_t started_at = 0;
    int64_t ended_at = 0;
    char algorithm[24] = {};  // of an all_reduce
};

/// Returns "all_reduce #57 (sum of 21840 float32)" or "send to rank 1 (tag 7, 100
/// float32)".
std::string describe(const FlightRecord& record);

/// Returns whether the operation is point-to-point: send or recv. These have no sequence
/// number.
bool is_point(const FlightRecord& record);

constexpr size_t kFlightRecords = 4096;
constexpr int kMostFlightRanks = 1'000'000;  // a file with more ranks is damaged
constexpr int kMostFlightMembers = 4096;     // a larger subgroup's dump lists no members

/// The layout of the dump, the same in memory and in the file. Texts end with NUL.
struct FlightDump {
    char magic[8];
    uint64_t size;  // of the whole dump, in bytes
    int32_t rank;   // in the group
    int32_t world_size;
    int32_t world_rank;  // in the job
    int32_t
        member_count;  // world_size for a subgroup; 0: all ranks of the job, or unknown
    int64_t pid;
    int64_t restart;
    int64_t wall_offset;  // time of day minus the monotonic clock, in nanoseconds
    int64_t seen_at;      // when the group failed, the rank ended or this copy was made;
                          // 0: the rank may still be recording
    uint64_t recorded;    // operations so far, including overwritten ones
    char run[64];
    char group[64];
    char backend[16];
    char host[64];
    int32_t blamed;                        // the lost or silent rank of the job, or -1
    char reason[252];                      // why the group ended; "" while the group runs
    int32_t members[kMostFlightMembers];   // by rank in the group: the rank in the job
    FlightRecord records[kFlightRecords];  // index: (number - 1) % kFlightRecords
};

/// The header of a dump.
struct FlightHead {
    std::string run;
    std::string group;
    std::string backend;
    std::string host;
    int rank = 0;  // in the group
    int world_size = 1;
    int world_rank = -1;            // in the job; -1: the same as `rank`
    std::vector<int> members = {};  // of a subgroup, by rank: the rank in the job
    int64_t pid = 0;
    int64_t restart = 0;
    int64_t wall_offset = 0;
    int64_t seen_at = 0;
    uint64_t recorded = 0;
    int blamed = -1;
    std::string reason = "";
};

/// The contents of a dump.
struct Flight {
    std::string file = "";  // "" if it was not read from a file
    FlightHead head;
    std::vector<FlightRecord> records;  // oldest first
};

/// Returns the time on the monotonic clock, in nanoseconds.
int64_t flight_now();

/// Initializes an empty dump. REQUIRES: `dump` is zeroed memory.
void begin_dump(FlightDump& dump, const FlightHead& head);

/// Records why the group ended, the rank that caused the end (-1: none), and the time.
/// Later calls do nothing: the first reason is kept.
void put_reason(FlightDump& dump, const std::string& reason, int blamed);

/// Returns the contents of a dump. Leaves out invalid records: a kill may have
/// interrupted a write.
Flight read_dump(const FlightDump& dump);

/// Returns the contents of a dump file. Throws BadFile, with a message of one line, if
/// `path` is not a regular file with a complete dump; never blocks, not even on a pipe.
/// Control characters in texts are replaced by "?".
Flight read_dump_file(const std::string& path);

/// Returns the current time on the monotonic clock of the dump's host, in nanoseconds.
/// Computes it from this host's time of day.
int64_t now_of(const FlightHead& head);

/// Records in a dump file that its rank has ended: sets seen_at to now. Throws BadFile.
void note_end(const std::string& path);

/// Returns the name of a rank's dump file: "flight-3f2a-rank1.dump" for the default
/// group, "flight-3f2a-rank1-group_2.dump" for a subgroup.
std::string flight_file_name(const FlightHead& head);

}  // namespace mini::dist
