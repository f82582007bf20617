#include "libmini/tools/mini/flight_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "libmini/core/error.hpp"
#include "libmini/io/file.hpp"

namespace mini::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kLongestLine = 1 << 16;
constexpr uint64_t kLongestDump = 16 << 20;  // 4,096 operations are 2 MB

// A text with U+FFFD for bytes that are not UTF-8, so that JSON can hold it.
std::string as_utf8(const std::string& text) {
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

// A text for the screen, of one in UTF-8: control characters become "?".
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

// One line of a dump, with its place for complaints.
class Line {
  public:
    Line(const std::string& file, int number, const std::string& text)
        : file_(file), number_(number) {
        fields_ = json::parse(text, nullptr, false);
        if (!fields_.is_object()) bad("no JSON object; was the file cut short?");
    }

    [[noreturn]] void bad(const std::string& complaint) const {
        throw BadFile(concat(file_, ", line ", number_, ": ", complaint));
    }

    std::string text(const char* name) const {
        const json& value = field(name);
        if (!value.is_string()) bad(concat(name, " is not a text"));
        return clean(value.get<std::string>());
    }

    int64_t number(const char* name, int64_t least, int64_t most = INT64_MAX) const {
        const json& value = field(name);
        const bool fits = value.is_number_unsigned()
                              ? value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                              : value.is_number_integer();
        if (!fits) bad(concat(name, " is not a whole number"));
        const auto result = value.get<int64_t>();
        if (result < least || result > most)
            bad(concat(name, " is ", result, ", not within ", least, " .. ", most));
        return result;
    }

    bool has(const char* name) const { return fields_.contains(name); }

  private:
    const json& field(const char* name) const {
        const auto found = fields_.find(name);
        if (found == fields_.end()) bad(concat("there is no \"", name, "\""));
        return *found;
    }

    const std::string& file_;
    int number_;
    json fields_;
};

void read_head(const Line& line, RankFlight& flight) {
    if (!line.has("flight")) line.bad("no dump of a flight recorder");
    line.number("flight", 1, 1);  // the format's version
    dist::FlightHead& head = flight.head;
    head.run = line.text("run");
    head.restart = line.number("restart", 0);
    head.group = line.text("group");
    head.backend = line.text("backend");
    head.host = line.text("host");
    head.pid = line.number("pid", 0);
    head.world_size =
        static_cast<int>(line.number("world_size", 1, dist::kMostFlightRanks));
    head.rank = static_cast<int>(line.number("rank", 0, head.world_size - 1));
    head.recorded = static_cast<uint64_t>(line.number("recorded", 0));
    flight.reason = line.text("reason");
    flight.now = line.number("monotonic_ns", 0);
}

FlightEntry::State read_state(const Line& line) {
    const std::string name = line.text("state");
    for (int i = 0; i <= static_cast<int>(FlightEntry::State::kFailed); ++i) {
        const auto state = static_cast<FlightEntry::State>(i);
        if (name == dist::state_name(state)) return state;
    }
    line.bad(concat("the state is '", name, "'"));
}

FlightEntry read_entry(const Line& line) {
    FlightEntry entry;
    entry.what = line.text("what");
    entry.operation = line.text("operation");
    entry.point = !line.has("sequence");
    if (!entry.point) entry.sequence = static_cast<uint64_t>(line.number("sequence", 0));
    entry.state = read_state(line);
    entry.started_at = line.number("started_ns", 0);
    entry.ended_at = line.number("ended_ns", 0);
    return entry;
}

std::string read_text(const std::string& path) {
    const io::InputFile file(path);
    if (file.size() > kLongestDump)
        throw BadFile(concat(path, ": ", file.size(), " bytes, more than the ",
                             kLongestDump, " of the longest dump"));
    std::string text(file.size(), '\0');
    file.read(0, std::as_writable_bytes(std::span(text)));
    return text;
}

RankFlight read_dump(const std::string& path) {
    const std::string text = read_text(path);
    if (text.empty()) throw BadFile(concat(path, ": the file is empty"));
    RankFlight flight{.file = path, .head = {}, .reason = "", .entries = {}};
    int number = 0;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = text.find('\n', begin);
        const bool cut = end == std::string::npos;
        if (cut || end - begin > kLongestLine ||
            flight.entries.size() > dist::kFlightRecords)
            throw BadFile(concat(path, ", line ", number + 1,
                                 cut ? ": cut short" : ": too long for a dump"));
        const Line line(path, ++number, text.substr(begin, end - begin));
        if (number == 1) {
            read_head(line, flight);
        } else {
            flight.entries.push_back(read_entry(line));
        }
    }
    return flight;
}

RankFlight read_box(const std::string& path) {
    dist::Flight box = dist::read_box_file(path);
    for (std::string* text : {&box.head.run, &box.head.group, &box.head.backend,
                              &box.head.host, &box.head.reason})
        *text = clean(as_utf8(*text));
    RankFlight flight{.file = path,
                      .head = box.head,
                      .reason = box.head.reason,
                      .now = dist::flight_now(),
                      .entries = {}};
    for (const dist::FlightRecord& record : box.records)
        flight.entries.push_back(
            {.what = dist::describe(record),
             .operation = operation_name(record.collective.operation),
             .point = dist::is_point(record.collective.operation),
             .sequence = record.collective.sequence,
             .state = record.state,
             .started_at = record.started_at,
             .ended_at = record.ended_at});
    return flight;
}

}  // namespace

RankFlight read_flight(const std::string& path) {
    return fs::path(path).extension() == ".box" ? read_box(path) : read_dump(path);
}

std::vector<std::string> find_flights(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(path)) {
            fs::path file = entry.path();
            const bool ours = file.filename().string().rfind("flight-", 0) == 0;
            const bool dump = file.extension() == ".json";
            const bool box = file.extension() == ".box" &&
                             !fs::exists(fs::path(file).replace_extension(".json"));
            if (ours && (dump || box)) files.push_back(file.string());
        }
    }
    if (files.empty())
        throw UsageError(concat("no dump of a flight recorder (flight-*.json) in ",
                                paths.empty() ? "nothing" : paths.front()));
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace mini::tools
