#include "libmini/extras/flight/flight_file.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

// Replaces bytes that are not UTF-8 by U+FFFD, so that the text can be stored in JSON.
std::string as_utf8(const std::string& text) {
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
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

ordered_json record_fields(const dist::FlightRecord& record, int64_t wall_offset) {
    const dist::Collective& c = record.collective;
    ordered_json fields = {{"number", record.number},
                           {"operation", operation_name(c.operation)}};
    if (dist::is_point(c.operation)) {
        fields.update({{"peer", record.peer}, {"tag", record.tag}});
    } else {
        fields.update({{"sequence", c.sequence}, {"root", c.root}});
    }
    const size_t length = strnlen(record.algorithm, sizeof record.algorithm);
    fields.update({{"what", describe(record)},
                   {"dtype", dtype_name(c.dtype)},
                   {"count", c.count},
                   {"reduce_op", reduce_op_name(c.reduce_op)},
                   {"bytes", record.bytes},
                   {"algorithm", std::string(record.algorithm, length)},
                   {"state", state_name(record.state)},
                   {"queued_ns", record.queued_at},
                   {"started_ns", record.started_at},
                   {"ended_ns", record.ended_at},
                   {"queued_wall_ns", record.queued_at + wall_offset}});
    return fields;
}

}  // namespace

RankFlight read_flight(const std::string& path) {
    dist::Flight box = dist::read_box_file(path);
    for (std::string* text : {&box.head.run, &box.head.group, &box.head.backend,
                              &box.head.host, &box.head.reason})
        *text = clean(as_utf8(*text));
    if (box.head.seen_at == 0) box.head.seen_at = now_of(box.head);
    return {.file = path, .head = box.head, .records = std::move(box.records)};
}

std::vector<std::string> find_flights(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(path)) {
            const fs::path& file = entry.path();
            const bool ours = file.filename().string().rfind("flight-", 0) == 0;
            if (ours && file.extension() == ".box") files.push_back(file.string());
        }
    }
    if (files.empty())
        throw UsageError(concat("no box of a flight recorder (flight-*.box) in ",
                                paths.empty() ? "nothing" : paths.front()));
    std::sort(files.begin(), files.end());
    return files;
}

ordered_json json_of(const RankFlight& flight) {
    const dist::FlightHead& head = flight.head;
    auto records = ordered_json::array();
    for (const dist::FlightRecord& record : flight.records)
        records.push_back(record_fields(record, head.wall_offset));
    return {{"rank", head.world_rank},
            {"host", head.host},
            {"pid", head.pid},
            {"reason", head.reason},
            {"blamed", head.blamed},
            {"recorded", head.recorded},
            {"monotonic_ns", head.seen_at},
            {"wall_ns", head.seen_at + head.wall_offset},
            {"records", records}};
}

}  // namespace mini::tools
