#include "libmini/io/safetensors_header.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

using nlohmann::json;

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kDType = "dtype";
constexpr const char* kShape = "shape";
constexpr const char* kOffsets = "data_offsets";
constexpr const char* kMembers = "dtype, shape and data_offsets";
constexpr size_t kMaxDimensions = 64;
constexpr size_t kMaxQuoteBytes = 200;  // maximum length of a name in an error message

template <typename... Parts>
void check_file(bool condition, const Parts&... parts) {
    if (!condition) throw BadFile(parts...);
}

// Returns, for example, {"dtype":"F32","shape":[10,50],"data_offsets":[40,2040]}.
std::string describe(const SafetensorsEntry& entry) {
    return concat("{\"dtype\":\"", entry.type, "\",\"shape\":", json(entry.shape).dump(),
                  ",\"data_offsets\":[", entry.begin, ",", entry.end, "]}");
}

std::string shortened(const std::string& text) {
    return text.size() <= kMaxQuoteBytes ? text : text.substr(0, kMaxQuoteBytes) + "...";
}

[[noreturn]] void reject_tensor(const std::string& name, const auto&... parts) {
    throw BadFile("tensor ", quoted_name(name), ": ", parts...);
}

// Returns a value for an error message.
std::string text_of(const json& value) {
    if (value.is_array()) return "a list";
    return value.is_object() ? "an object" : shortened(value.dump());
}

const json& member_of(const std::string& name, const json& tensor, const char* member) {
    if (!tensor.contains(member))
        reject_tensor(name, "not described by ", kMembers, " alone: ", member,
                      " is missing");
    return tensor[member];
}

// Returns the numbers of `member`, which is a list of integers from 0 to 2^64 - 1.
std::vector<uint64_t> numbers_of(const std::string& name, const json& tensor,
                                 const char* member) {
    const json& list = member_of(name, tensor, member);
    if (!list.is_array()) reject_tensor(name, member, " is missing or not a list");
    for (const json& number : list)
        if (!number.is_number_unsigned())
            reject_tensor(name, member, " has ", text_of(number),
                          ", not an integer from 0 to 2^64 - 1");
    return list.get<std::vector<uint64_t>>();
}

// Checks the sizes and returns them as a Shape. Sizes of 0 count as 1 in the product, so
// that the strides do not overflow either.
Shape shape_of(const std::string& name, const json& tensor) {
    Shape shape;
    int64_t product = 1;
    for (const uint64_t size : numbers_of(name, tensor, kShape)) {
        const bool fits =
            size <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
            !__builtin_mul_overflow(product, std::max<uint64_t>(size, 1), &product);
        if (!fits)
            reject_tensor(name, "the shape ", tensor[kShape].dump(),
                          " has more elements than can be counted");
        shape.push_back(static_cast<int64_t>(size));
    }
    return shape;
}

SafetensorsEntry entry_of(const std::string& name, const json& tensor) {
    const json& type = member_of(name, tensor, kDType);
    if (!type.is_string()) reject_tensor(name, "dtype is missing or not a string");
    const Shape shape = shape_of(name, tensor);
    const std::vector<uint64_t> offsets = numbers_of(name, tensor, kOffsets);
    if (offsets.size() != 2 || offsets[0] > offsets[1])
        reject_tensor(name, "data_offsets is ", json(offsets).dump(),
                      ", not a begin and an end");

    // Compare the bytes with the shape, if libmini has the dtype.
    const std::optional<DType> dtype = find_dtype(type);
    uint64_t bytes = 0;
    const auto count = static_cast<uint64_t>(element_count(shape));
    if (dtype && (__builtin_mul_overflow(count, item_size(*dtype), &bytes) ||
                  bytes != offsets[1] - offsets[0]))
        reject_tensor(name, offsets[1] - offsets[0], " bytes do not hold the shape ",
                      shape, " of ", *dtype);
    return {name, type, shape, offsets[0], offsets[1]};
}

// Reads the header while the JSON parser runs: takes each tensor out of the parser's tree
// when its object ends, so that the tree stays small, and sees a key that occurs twice.
class HeaderReader {
  public:
    explicit HeaderReader(size_t max_names) : max_names_(max_names) {}

    // Called by the parser for a part of the text. Returns whether the tree keeps it. `depth`
    // is 1 for a tensor, 2 for a member of a tensor, and 3 for a number of a shape.
    bool operator()(int depth, json::parse_event_t event, json& part) {
        using Event = json::parse_event_t;
        if (event == Event::key && depth == 1) start_name(part.get<std::string>());
        if (event == Event::key && depth == 2) start_member(part.get<std::string>());
        if (event == Event::value && depth == 3 && ++numbers_ > kMaxDimensions)
            reject_tensor(name_, member_, " has more than ", kMaxDimensions, " numbers");
        const bool is_end = event == Event::object_end || event == Event::array_end;
        if (depth == 1 && (is_end || event == Event::value)) {
            end_name(part);
            return false;
        }
        return depth <= 3;
    }

    SafetensorsHeader take() { return std::move(header_); }

  private:
    void count_name(std::set<std::string>& seen, const std::string& name) {
        check_file(++names_ <= max_names_, "the header has more than ", max_names_,
                   " names");
        insert(seen, name);
    }
    static void insert(std::set<std::string>& seen, const std::string& key) {
        check_file(seen.insert(key).second, "the header has the key ", quoted_name(key),
                   " twice");
    }

    void start_name(const std::string& name) {
        count_name(tensor_names_, name);
        name_ = name;
        members_.clear();
    }
    void start_member(const std::string& key) {
        if (name_ == kMetadata) return count_name(members_, key);
        if (key != kDType && key != kShape && key != kOffsets)
            reject_tensor(name_, "not described by ", kMembers, " alone: it has ",
                          quoted_name(key));
        insert(members_, key);
        member_ = key;
        numbers_ = 0;
    }
    void end_name(const json& value) {
        if (name_ == kMetadata) return read_metadata(value);
        if (!value.is_object())
            reject_tensor(name_, "not described by ", kMembers, " alone: it is ",
                          text_of(value));
        header_.entries.push_back(entry_of(name_, value));
    }
    void read_metadata(const json& value) {
        check_file(value.is_object(), kMetadata, " is not an object");
        for (const auto& [key, text] : value.items())
            check_file(text.is_string(), kMetadata, ": the value of ", quoted_name(key),
                       " is not a string");
        header_.metadata = value;
    }

    SafetensorsHeader header_;
    const size_t max_names_;
    size_t names_ = 0;                    // of tensors and of metadata
    std::set<std::string> tensor_names_;  // and "__metadata__"
    std::string name_;                    // the last one
    std::set<std::string> members_;       // the keys of its object so far
    std::string member_;                  // the last one
    size_t numbers_ = 0;                  // in its list so far
};

// Checks that the sorted entries fill [0, data_bytes) without gaps or overlaps.
void check_coverage(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes) {
    uint64_t end = 0;
    for (const SafetensorsEntry& entry : entries) {
        if (entry.begin != end)
            throw BadFile("tensor ", quoted_name(entry.name), " begins at byte ",
                          entry.begin, " of the data, but the previous tensor ends at ",
                          end);
        end = entry.end;
    }
    check_file(end == data_bytes, "the header describes ", end,
               " bytes of data, but the file has ", data_bytes);
}

}  // namespace

std::string quoted_name(const std::string& text) {
    return json(shortened(text)).dump(-1, ' ', true, json::error_handler_t::replace);
}

const char* type_name(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return "F32";
        case DType::kInt64: return "I64";
        case DType::kUInt8: return "U8";
        case DType::kFloat16: return "F16";
        case DType::kBFloat16: return "BF16";
    }
    throw Error("safetensors: no name for the dtype ", dtype);
}

std::optional<DType> find_dtype(const std::string& type) {
    for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8,
                              DType::kFloat16, DType::kBFloat16})
        if (type == type_name(dtype)) return dtype;
    return std::nullopt;
}

std::string format_header(const SafetensorsHeader& header) {
    std::string text = "{";
    const auto add = [&](const std::string& name, const std::string& description) {
        text += concat(text.size() > 1 ? "," : "", json(name).dump(), ":", description);
    };
    try {
        if (!header.metadata.empty()) add(kMetadata, json(header.metadata).dump());
        for (const SafetensorsEntry& entry : header.entries)
            add(entry.name, describe(entry));
    } catch (const json::exception& error) {
        throw UsageError("save_safetensors: ", error.what());
    }
    return text + "}";
}

SafetensorsHeader parse_header(const std::string& text, uint64_t data_bytes,
                               size_t max_names) {
    check_file(text.starts_with('{'), "the header does not begin with {");
    // The JSON parser would stop at a zero byte.
    check_file(text.find('\0') == std::string::npos, "the header contains a zero byte");
    HeaderReader reader(max_names);
    try {
        const json emptied = json::parse(text, std::ref(reader));
    } catch (const json::exception& error) {
        throw BadFile("the header is not JSON: ", shortened(error.what()));
    }
    SafetensorsHeader header = reader.take();

    // Sort empty tensors before a tensor that begins at the same byte.
    std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
        return std::tie(entry.begin, entry.end, entry.name);
    });
    check_coverage(header.entries, data_bytes);
    return header;
}

}  // namespace mini::io
