#include "libmini/io/safetensors_header.hpp"

#include <algorithm>
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
    if (!condition) throw BadFile(concat(parts...));
}

// Returns, for example, {"dtype":"F32","shape":[10,50],"data_offsets":[40,2040]}.
std::string describe(const SafetensorsEntry& entry) {
    return concat("{\"dtype\":\"", entry.type, "\",\"shape\":", json(entry.shape).dump(),
                  ",\"data_offsets\":[", entry.begin, ",", entry.end, "]}");
}

std::string shortened(const std::string& text) {
    return text.size() <= kMaxQuoteBytes ? text : text.substr(0, kMaxQuoteBytes) + "...";
}

// Builds the header while the JSON parser runs. So no JSON tree is stored, and the first
// error ends the parsing.
//
//     {                                  kFile -> kHeader
//       "__metadata__": {"a": "b"},      kMetadata
//       "x": {"shape": [10, 5], ...}     kTensor, and kNumbers within [ ]
//     }
class HeaderReader : public json::json_sax_t {
  public:
    explicit HeaderReader(size_t max_names) : max_names_(max_names) {}

    SafetensorsHeader take() { return std::move(header_); }

    bool start_object(size_t) override {
        if (state_ == State::kFile) {
            state_ = State::kHeader;
        } else if (state_ != State::kHeader) {
            reject_value("an object");
        } else if (name_ == kMetadata) {
            state_ = State::kMetadata;
        } else {
            state_ = State::kTensor;
            entry_ = {};
            seen_.clear();
        }
        return true;
    }

    bool key(std::string& key) override {
        if (state_ == State::kTensor) {
            start_member(key);
            return true;
        }
        check_file(++names_ <= max_names_, "the header has more than ", max_names_,
                   " names");
        if (state_ == State::kMetadata) {
            if (header_.metadata.contains(key)) reject_duplicate(key);
            metadata_key_ = key;
        } else {
            if (!tensor_names_.insert(key).second) reject_duplicate(key);
            name_ = key;
        }
        return true;
    }

    bool end_object() override {
        if (state_ == State::kTensor) end_tensor();
        state_ = state_ == State::kHeader ? State::kFile : State::kHeader;
        return true;
    }

    bool start_array(size_t) override {
        if (state_ != State::kTensor || member_ == kDType) reject_value("a list");
        state_ = State::kNumbers;
        return true;
    }

    bool end_array() override {
        state_ = State::kTensor;
        return true;
    }

    bool string(std::string& text) override {
        if (state_ == State::kMetadata) {
            header_.metadata[metadata_key_] = text;
        } else if (state_ == State::kTensor && member_ == kDType) {
            entry_.type = text;
        } else {
            reject_value(quoted_name(text));
        }
        return true;
    }

    bool number_unsigned(uint64_t number) override {
        if (state_ != State::kNumbers) reject_value(concat(number));
        std::vector<uint64_t>& list = member_ == kShape ? shape_ : offsets_;
        if (list.size() == kMaxDimensions)
            reject(member_, " has more than ", kMaxDimensions, " numbers");
        list.push_back(number);
        return true;
    }

    bool null() override { reject_value("null"); }
    bool boolean(bool value) override { reject_value(json(value).dump()); }
    bool number_integer(int64_t number) override { reject_value(concat(number)); }
    bool number_float(double number, const std::string& text) override {
        const bool is_integer = text.find_first_of(".eE") == std::string::npos;
        reject_value(is_integer ? shortened(text) : json(number).dump());
    }
    bool binary(json::binary_t&) override { reject_value("bytes"); }

    bool parse_error(size_t, const std::string&, const json::exception& error) override {
        throw BadFile(concat("the header is not JSON: ", shortened(error.what())));
    }

  private:
    enum class State { kFile, kHeader, kMetadata, kTensor, kNumbers };

    template <typename... Parts>
    [[noreturn]] void reject(const Parts&... parts) const {
        throw BadFile(concat("tensor ", quoted_name(name_), ": ", parts...));
    }

    [[noreturn]] static void reject_duplicate(const std::string& key) {
        throw BadFile(concat("the header has the key ", quoted_name(key), " twice"));
    }

    // Throws BadFile because `value` is not allowed at this position.
    [[noreturn]] void reject_value(const std::string& value) const {
        switch (state_) {
            case State::kFile: throw BadFile("the header is not one object");
            case State::kMetadata:
                throw BadFile(concat(kMetadata, ": the value of ",
                                     quoted_name(metadata_key_), " is not a string"));
            case State::kHeader:
                check_file(name_ != kMetadata, kMetadata, " is not an object");
                reject("not described by ", kMembers, " alone: it is ", value);
            case State::kNumbers:
                reject(member_, " has ", value, ", not an integer from 0 to 2^64 - 1");
            case State::kTensor: break;
        }
        reject(member_, " is missing or not a ", member_ == kDType ? "string" : "list");
    }

    void start_member(const std::string& key) {
        if (key != kDType && key != kShape && key != kOffsets)
            reject("not described by ", kMembers, " alone: it has ", quoted_name(key));
        if (!seen_.insert(key).second) reject_duplicate(key);
        member_ = key;
    }

    void end_tensor() {
        for (const char* member : {kDType, kShape, kOffsets})
            if (!seen_.contains(member))
                reject("not described by ", kMembers, " alone: ", member, " is missing");
        entry_.name = name_;
        entry_.shape = checked_shape();
        if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
            reject("data_offsets is ", json(offsets_).dump(), ", not a begin and an end");
        entry_.begin = offsets_[0];
        entry_.end = offsets_[1];
        if (const std::optional<DType> dtype = find_dtype(entry_.type))
            check_size(*dtype);
        header_.entries.push_back(std::move(entry_));
        shape_.clear();
        offsets_.clear();
    }

    void check_size(DType dtype) const {
        uint64_t bytes = 0;
        const auto count = static_cast<uint64_t>(element_count(entry_.shape));
        const bool fits = !__builtin_mul_overflow(count, item_size(dtype), &bytes);
        if (!fits || bytes != entry_.end - entry_.begin)
            reject(entry_.end - entry_.begin, " bytes do not hold the shape ",
                   entry_.shape, " of ", dtype);
    }

    // Checks the sizes and returns them as a Shape. Sizes of 0 count as 1 in the product,
    // so that the strides do not overflow either.
    Shape checked_shape() const {
        Shape shape;
        int64_t product = 1;
        for (const uint64_t size : shape_) {
            const bool fits =
                size <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
                !__builtin_mul_overflow(product, std::max<uint64_t>(size, 1), &product);
            if (!fits)
                reject("the shape ", json(shape_).dump(),
                       " has more elements than can be counted");
            shape.push_back(static_cast<int64_t>(size));
        }
        return shape;
    }

    SafetensorsHeader header_;
    State state_ = State::kFile;
    const size_t max_names_;
    size_t names_ = 0;  // of tensors and of metadata
    std::set<std::string> tensor_names_;
    std::string metadata_key_;

    // The tensor that is being parsed.
    std::string name_;
    SafetensorsEntry entry_;
    std::set<std::string> seen_;  // the members of this tensor that were parsed so far
    std::string member_;          // the member that is being parsed
    std::vector<uint64_t> shape_, offsets_;
};

// Checks that the sorted entries fill [0, data_bytes) without gaps or overlaps.
void check_coverage(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes) {
    uint64_t end = 0;
    for (const SafetensorsEntry& entry : entries) {
        if (entry.begin != end)
            throw BadFile(concat("tensor ", quoted_name(entry.name), " begins at byte ",
                                 entry.begin,
                                 " of the data, but the previous tensor ends at ", end));
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
    throw Error(concat("safetensors: no name for the dtype ", dtype));
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
        throw UsageError(concat("save_safetensors: ", error.what()));
    }
    return text + "}";
}

SafetensorsHeader parse_header(const std::string& text, uint64_t data_bytes,
                               size_t max_names) {
    check_file(text.starts_with('{'), "the header does not begin with {");
    // The JSON parser would stop at a zero byte.
    check_file(text.find('\0') == std::string::npos, "the header contains a zero byte");
    HeaderReader reader(max_names);
    json::sax_parse(text, &reader);
    SafetensorsHeader header = reader.take();

    // Sort empty tensors before a tensor that begins at the same byte.
    std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
        return std::tie(entry.begin, entry.end, entry.name);
    });
    check_coverage(header.entries, data_bytes);
    return header;
}

}  // namespace mini::io
