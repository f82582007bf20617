#include "libmini/io/safetensors_header.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "libmini/core/error.hpp"

namespace mini::io {
namespace {

using nlohmann::json;

constexpr const char* kMetadata = "__metadata__";
constexpr int kDeepest = 3;  // the header, a tensor in it, a list in that

template <typename... Parts>
void check_file(bool condition, const Parts&... parts) {
    if (!condition) throw BadFile(concat(parts...));
}

const char* format_dtype(DType dtype) {
    switch (dtype) {
        case DType::kFloat32: return "F32";
        case DType::kInt64: return "I64";
        case DType::kUInt8: return "U8";
        case DType::kFloat16: return "F16";
        case DType::kBFloat16: return "BF16";
    }
    throw Error(concat("safetensors: no name for the dtype ", dtype));
}

// {"dtype":"F32","shape":[10,50],"data_offsets":[40,2040]}
std::string describe(const SafetensorsEntry& entry) {
    return concat("{\"dtype\":\"", format_dtype(entry.dtype),
                  "\",\"shape\":", json(entry.shape).dump(), ",\"data_offsets\":[",
                  entry.begin, ",", entry.end, "]}");
}

// In quotes, with control characters escaped, so that a message stays one line.
std::string quoted(const std::string& name) {
    return json(name).dump(-1, ' ', true, json::error_handler_t::replace);
}

// Refuses what the parser would let pass: keys that come twice, of which it would keep
// the last, and nesting deeper than the format has.
class Watcher : public json::json_sax_t {
  public:
    bool start_object(size_t) override {
        keys_.emplace_back();
        return open();
    }
    bool key(std::string& key) override {
        check_file(keys_.back().insert(key).second, "the header has the key ",
                   quoted(key), " twice");
        return true;
    }
    bool end_object() override {
        keys_.pop_back();
        return close();
    }
    bool start_array(size_t) override { return open(); }
    bool end_array() override { return close(); }

    bool parse_error(size_t, const std::string&, const json::exception& error) override {
        throw BadFile(concat("the header is not JSON: ", error.what()));
    }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(int64_t) override { return true; }
    bool number_unsigned(uint64_t) override { return true; }
    bool number_float(double, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(json::binary_t&) override { return true; }

  private:
    bool open() {
        check_file(++depth_ <= kDeepest, "the header is nested too deeply");
        return true;
    }
    bool close() {
        --depth_;
        return true;
    }

    int depth_ = 0;
    std::vector<std::set<std::string>> keys_;  // one set for each object that is open
};

json parse_json(const std::string& text) {
    check_file(text.find('\0') == std::string::npos,
               "the header has a zero byte, where the parser would stop");
    Watcher watcher;
    json::sax_parse(text, &watcher);
    return json::parse(text);
}

// The member `key` of a tensor's description, a list of whole numbers from 0 on.
std::vector<uint64_t> parse_numbers(const std::string& name, const json& tensor,
                                    const char* key) {
    const auto list = tensor.find(key);
    check_file(list != tensor.end() && list->is_array(), "tensor ", quoted(name), ": ",
               key, " is missing or not a list");
    std::vector<uint64_t> numbers;
    for (const json& number : *list) {
        check_file(number.is_number_unsigned(), "tensor ", quoted(name), ": ", key,
                   " has ", number.dump(), ", not a whole number from 0 to 2^64 - 1");
        numbers.push_back(number.get<uint64_t>());
    }
    return numbers;
}

DType parse_dtype(const std::string& name, const json& tensor) {
    const auto text = tensor.find("dtype");
    check_file(text != tensor.end() && text->is_string(), "tensor ", quoted(name),
               ": dtype is missing or not a string");
    for (const DType dtype : {DType::kFloat32, DType::kInt64, DType::kUInt8,
                              DType::kFloat16, DType::kBFloat16})
        if (*text == format_dtype(dtype)) return dtype;
    throw BadFile(concat("tensor ", quoted(name), ": the dtype is ", text->dump(),
                         "; F32, F16, BF16, I64 and U8 can be read"));
}

// Checks sizes before they become a Shape. Sizes of 0 are left out of the product, so
// that the strides do not overflow either.
Shape parse_shape(const std::string& name, const json& tensor) {
    Shape shape;
    int64_t product = 1;
    for (const uint64_t size : parse_numbers(name, tensor, "shape")) {
        const bool fits =
            size <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
            !__builtin_mul_overflow(product, std::max<uint64_t>(size, 1), &product);
        check_file(fits, "tensor ", quoted(name), ": the shape ",
                   tensor.at("shape").dump(), " has more elements than can be counted");
        shape.push_back(static_cast<int64_t>(size));
    }
    return shape;
}

SafetensorsEntry parse_entry(const std::string& name, const json& tensor) {
    check_file(tensor.is_object() && tensor.size() == 3, "tensor ", quoted(name),
               " is not described by dtype, shape and data_offsets alone");
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = parse_dtype(name, tensor);
    entry.shape = parse_shape(name, tensor);
    const auto offsets = parse_numbers(name, tensor, "data_offsets");
    check_file(offsets.size() == 2 && offsets[0] <= offsets[1], "tensor ", quoted(name),
               ": data_offsets is ", tensor.at("data_offsets").dump(),
               ", not a begin and an end");
    entry.begin = offsets[0];
    entry.end = offsets[1];

    uint64_t bytes = 0;
    const auto count = static_cast<uint64_t>(element_count(entry.shape));
    const bool fits = !__builtin_mul_overflow(count, item_size(entry.dtype), &bytes);
    check_file(fits && bytes == entry.end - entry.begin, "tensor ", quoted(name), ": ",
               entry.end - entry.begin, " bytes do not hold the shape ", entry.shape,
               " of ", entry.dtype);
    return entry;
}

std::map<std::string, std::string> parse_metadata(const json& metadata) {
    check_file(metadata.is_object(), kMetadata, " is not an object");
    std::map<std::string, std::string> strings;
    for (const auto& [key, value] : metadata.items()) {
        check_file(value.is_string(), kMetadata, ": the value of ", quoted(key),
                   " is not a string");
        strings[key] = value.get<std::string>();
    }
    return strings;
}

// Checks that entries in order fill [0, data_bytes) without gap or overlap.
void check_coverage(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes) {
    uint64_t end = 0;
    for (const SafetensorsEntry& entry : entries) {
        check_file(entry.begin == end, "tensor ", quoted(entry.name), " begins at byte ",
                   entry.begin, " of the data, but the one before it ends at ", end);
        end = entry.end;
    }
    check_file(end == data_bytes, "the header describes ", end,
               " bytes of data, but the file has ", data_bytes);
}

}  // namespace

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
        throw UsageError(concat("save_safetensors: ", error.what()));
    }
    return text + "}";
}

SafetensorsHeader parse_header(const std::string& text, uint64_t data_bytes) {
    check_file(text.starts_with('{'), "the header does not begin with {");
    const json root = parse_json(text);

    SafetensorsHeader header;
    for (const auto& [name, value] : root.items()) {
        if (name == kMetadata)
            header.metadata = parse_metadata(value);
        else
            header.entries.push_back(parse_entry(name, value));
    }

    // Put empty tensors before the one that begins at the same byte.
    std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
        return std::tie(entry.begin, entry.end, entry.name);
    });
    check_coverage(header.entries, data_bytes);
    return header;
}

}  // namespace mini::io
