// Malformed safetensors files: loading a file throws BadFile with path and reason, before
// memory for tensors is allocated.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/io/safetensors.hpp"
#include "libmini/io/safetensors_header.hpp"
#include "tests/io/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

namespace {

// Loads a file with these contents. Returns the error message without the path, or "" if
// the file is valid.
std::string error_message(const std::string& contents) {
    const Folder folder;
    const std::string path = folder / "bad.safetensors";
    write_text(path, contents);
    const std::string message =
        message_of<mini::BadFile>([&] { mini::io::load_safetensors(path); });
    if (message.empty()) return "";
    REQUIRE(message.substr(0, path.size() + 2) == path + ": ");
    CHECK(message.find('\n') == std::string::npos);
    return message.substr(path.size() + 2);
}

std::string length_field(uint64_t length) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> 8 * i & 255);
    return bytes;
}

// Returns a file with this header and `data_bytes` zeros.
std::string with_header(const std::string& header, size_t data_bytes) {
    return length_field(header.size()) + header + std::string(data_bytes, '\0');
}

// Returns a file with one tensor "x" of 8 bytes with this description.
std::string with_tensor(const std::string& description) {
    return with_header(R"({"x":)" + description + "}", 8);
}

void expect(const std::string& text, const std::string& part) {
    CAPTURE(text, part);
    CHECK(mini::test::contains(text, part));
}

std::string good_tensor(int begin, int end) {
    return R"({"dtype":"U8","shape":[)" + std::to_string(end - begin) +
           R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) +
           "]}";
}

}  // namespace

TEST_CASE("a valid file loads") {
    CHECK(error_message(with_tensor(good_tensor(0, 8))) == "");
    CHECK(error_message(with_header(
              R"({"b":)" + good_tensor(3, 8) + R"(,"a":)" + good_tensor(0, 3) + "}   ",
              8)) == "");
}

TEST_CASE("files that are too short for their header throw BadFile") {
    expect(error_message(""), "0 bytes are too few");
    expect(error_message("1234567"), "7 bytes are too few");
    expect(error_message(length_field(3) + "{}"), "has 3 bytes, but only 2 follow");
    expect(error_message(length_field(100'000'001)), "more than the 100000000 allowed");
    expect(error_message(length_field(uint64_t{1} << 63) + "{}"),
           "more than the 100000000");
    expect(error_message(length_field(std::numeric_limits<uint64_t>::max())),
           "more than");
}

TEST_CASE("headers that are not a JSON object throw BadFile") {
    expect(error_message(with_header("", 0)), "does not begin with {");
    expect(error_message(length_field(0) + "{}"), "does not begin with {");
    expect(error_message(length_field(1) + "{}"), "not JSON");
    expect(error_message(with_header(" {}", 0)), "does not begin with {");
    expect(error_message(with_header("[]", 0)), "does not begin with {");
    expect(error_message(with_header("{", 0)), "not JSON");
    expect(error_message(with_header("{}x", 0)), "not JSON");
    expect(error_message(with_header(std::string("{}\0", 3), 0)), "a zero byte");
    expect(error_message(with_header("{} // no comments", 0)), "not JSON");
    expect(error_message(with_header("{\"\xff\":1}", 0)), "not JSON");
    for (const std::string& header :
         {R"({"x":)" + good_tensor(0, 8) + ",}", std::string("{,}"),
          std::string(R"({"__metadata__":{"a":"b",}})"),
          std::string(R"({"x":{"dtype":"U8","shape":[8,],"data_offsets":[0,8]}})"),
          std::string(R"({"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8],}})")})
        expect(error_message(with_header(header, 8)), "not JSON");
}

TEST_CASE("a header nested a thousand levels deep throws BadFile") {
    const std::string deep = std::string(1000, '[') + std::string(1000, ']');
    expect(error_message(with_header(R"({"x":)" + deep + "}", 0)), "alone: it is a list");
    expect(error_message(with_tensor(R"({"dtype":"U8","shape":)" + deep +
                                     R"(,"data_offsets":[0,8]})")),
           "shape has a list");
    std::string objects = "{}";
    for (int i = 0; i < 1000; ++i) objects = R"({"x":)" + objects + "}";
    expect(error_message(with_header(objects, 0)), "alone: it has \"x\"");
}

TEST_CASE("duplicate names and keys throw BadFile") {
    const std::string x = R"("x":)" + good_tensor(0, 8);
    expect(error_message(with_header("{" + x + "," + x + "}", 8)), "the key \"x\" twice");
    expect(error_message(with_tensor(
               R"({"dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8]})")),
           "the key \"dtype\" twice");
    expect(error_message(with_header(R"({"__metadata__":{"a":"1","a":"2"}})", 0)),
           "the key \"a\" twice");
    expect(error_message(with_header(R"({"__metadata__":{},"__metadata__":{}})", 0)),
           "the key \"__metadata__\" twice");
}

TEST_CASE("tensors with missing or extra members throw BadFile") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"8", ""},
        {"[8]", ""},
        {"{}", ""},
        {R"({"dtype":"U8","shape":[8]})", ": data_offsets is missing"},
        {R"({"dtype":"U8","shape":[8],"data_offsets":[0,8],"more":1})",
         ": it has \"more\""},
        {R"({"dtype":"U8","shape":[8],"offsets":[0,8]})", ": it has \"offsets\""}};
    for (const auto& [tensor, fault] : cases)
        expect(error_message(with_tensor(tensor)),
               "not described by dtype, shape and data_offsets alone" + fault);
}

TEST_CASE("unknown element types throw BadFile that names the type") {
    for (const std::string dtype : {"F64", "bf16", "f32", "U7", "", "C64"})
        expect(error_message(with_tensor(R"({"dtype":")" + dtype +
                                         R"(","shape":[8],"data_offsets":[0,8]})")),
               "the dtype is \"" + dtype + "\"; F32, F16, BF16, I64 and U8 can be read");
    expect(error_message(with_tensor(R"({"dtype":5,"shape":[8],"data_offsets":[0,8]})")),
           "dtype is missing or not a string");
}

TEST_CASE("shapes that are not lists of integers, or of other sizes, throw BadFile") {
    const std::string uncounted = "more elements than can be counted";
    std::string ones = "8";
    for (int i = 1; i < 64; ++i) ones += ",1";
    struct Case {
        std::string dtype, shape;
        size_t bytes;
        std::string fault;  // "": the file is valid
    };
    const std::vector<Case> cases = {
        {"U8", "8", 8, "shape is missing or not a list"},
        {"U8", "[-8]", 8, "shape has -8"},
        {"U8", "[8.0]", 8, "shape has 8.0"},
        {"U8", "[\"8\"]", 8, "shape has \"8\""},
        {"U8", "[null]", 8, "shape has null"},
        {"U8", "[18446744073709551616]", 8, "not an integer"},
        {"U8", "[9223372036854775808]", 8, uncounted},
        {"U8", "[4294967296,4294967296]", 8, uncounted},
        {"U8", "[4611686018427387904,4,0]", 8, uncounted},
        {"U8", "[0,4611686018427387904,4]", 8, uncounted},
        {"U8", "[7]", 8, "8 bytes do not hold the shape (7,) of uint8"},
        {"U8", "[0]", 8, "8 bytes do not hold the shape (0,)"},
        {"I64", "[4611686018427387904]", 8,
         "do not hold the shape (4611686018427387904,) of int64"},
        {"U8", "[" + ones + "]", 8, ""},
        {"U8", "[" + ones + ",1]", 8, "shape has more than 64 numbers"},
        // 16-bit floats have two bytes; a scalar has an empty shape and one element.
        {"F16", "[2,2]", 8, ""},
        {"BF16", "[2,2]", 8, ""},
        {"F16", "[8]", 8, "8 bytes do not hold the shape (8,)"},
        {"BF16", "[8]", 8, "8 bytes do not hold the shape (8,)"},
        {"F16", "[]", 8, "8 bytes do not hold the shape ()"},
        {"BF16", "[]", 8, "8 bytes do not hold the shape ()"},
        {"F32", "[]", 4, ""},
        {"F32", "[]", 0, "0 bytes do not hold the shape () of float32"},
        {"F32", "[]", 8, "8 bytes do not hold the shape ()"}};
    for (const Case& c : cases) {
        const std::string message = error_message(
            with_header(R"({"x":{"dtype":")" + c.dtype + R"(","shape":)" + c.shape +
                            R"(,"data_offsets":[0,)" + std::to_string(c.bytes) + "]}}",
                        c.bytes));
        CAPTURE(c.dtype, c.shape);
        CHECK(message.empty() == c.fault.empty());
        expect(message, c.fault);
    }
}

TEST_CASE("offsets that are not two integers in order throw BadFile") {
    const auto with_offsets = [](const std::string& offsets) {
        return error_message(
            with_tensor(R"({"dtype":"U8","shape":[8],"data_offsets":)" + offsets + "}"));
    };
    expect(with_offsets("8"), "not a list");
    expect(with_offsets("[]"), "not a begin and an end");
    expect(with_offsets("[0]"), "not a begin and an end");
    expect(with_offsets("[0,8,8]"), "not a begin and an end");
    expect(with_offsets("[8,0]"), "not a begin and an end");
    expect(with_offsets("[-8,0]"), "data_offsets has -8");
    expect(with_offsets("[0,8.5]"), "data_offsets has 8.5");
    expect(with_offsets("[0,1e1]"), "data_offsets has 10.0");
    expect(with_offsets("[0,18446744073709551616]"), "not an integer");
    expect(with_offsets("[18446744073709551607,18446744073709551615]"),
           "begins at byte 18446744073709551607 of the data");

    // Numbers above 2^53 are read and printed exactly.
    expect(with_offsets("[9007199254740993,9007199254741001]"),
           "begins at byte 9007199254740993 of the data");
    expect(with_offsets("[0,18446744073709551617]"),
           "data_offsets has 1.8446744073709552e+19, not an integer");
    expect(with_offsets("[0,-9223372036854775808]"), "has -9223372036854775808, not");
    expect(with_offsets("[0,8.0]"), "has 8.0, not an integer");
}

TEST_CASE("gaps and overlaps and extra bytes throw BadFile") {
    const auto with_two = [](int a_begin, int a_end, int b_begin, int b_end,
                             size_t bytes) {
        return error_message(with_header(R"({"a":)" + good_tensor(a_begin, a_end) +
                                             R"(,"b":)" + good_tensor(b_begin, b_end) +
                                             "}",
                                         bytes));
    };
    CHECK(with_two(0, 4, 4, 8, 8) == "");
    CHECK(with_two(0, 4, 4, 4, 4) == "");
    CHECK(with_two(0, 4, 0, 0, 4) == "");
    CHECK(with_two(4, 8, 0, 4, 8) == "");
    expect(with_two(0, 4, 5, 9, 9), "\"b\" begins at byte 5 of the data");
    expect(with_two(0, 4, 3, 7, 7), "\"b\" begins at byte 3 of the data");
    expect(with_two(0, 4, 0, 4, 4), "\"b\" begins at byte 0 of the data");
    expect(with_two(1, 4, 4, 8, 8), "\"a\" begins at byte 1 of the data");
    expect(with_two(0, 4, 4, 8, 7), "describes 8 bytes of data, but the file has 7");
    expect(with_two(0, 4, 4, 8, 9), "describes 8 bytes of data, but the file has 9");
}

TEST_CASE("metadata values that are not strings throw BadFile") {
    const auto with_metadata = [](const std::string& value) {
        return error_message(with_header(R"({"__metadata__":)" + value + "}", 0));
    };
    CHECK(with_metadata(R"({"a":"1"})") == "");
    for (const char* value : {"[]", "null"})
        expect(with_metadata(value), "is not an object");
    for (const char* value :
         {R"({"a":1})", R"({"a":{"b":"c"}})", R"({"a":["b"]})", R"({"a":null})"})
        expect(with_metadata(value), "not a string");
}

TEST_CASE("a file truncated at any length throws BadFile") {
    const std::string whole = with_tensor(good_tensor(0, 8));
    for (size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK(error_message(whole.substr(0, length)) != "");
    }
}

TEST_CASE("control characters in a name are escaped in the error message") {
    expect(error_message(with_header(R"({"a\n\u001b":1})", 0)), R"(tensor "a\n\u001b")");
}

TEST_CASE("entries of every type are listed, and those that libmini has are read") {
    const std::string dtype =
        GENERATE("BOOL", "I8", "I16", "U16", "I32", "U32", "U64", "F64", "F8_E4M3",
                 "F8_E5M2", "F8_E8M0", "F4", "F6_E2M3", "C64", "a type of the future");
    const Folder folder;
    write_text(folder / "f",
               with_header(R"({"x":{"dtype":")" + dtype +
                               R"(","shape":[3,5],"data_offsets":[0,8]},"b":)" +
                               good_tensor(8, 10) +
                               R"(,"__metadata__":{"n":"9007199254740993"}})",
                           10));
    const mini::io::SafetensorsFile file(folder / "f");
    REQUIRE(file.entries().size() == 2);
    CHECK(file.entries()[0].name == "x");
    CHECK(file.entries()[0].type == dtype);
    CHECK(file.entries()[0].shape == mini::Shape{3, 5});
    CHECK(file.metadata().at("n") == "9007199254740993");
    CHECK(file.read(file.entries()[1]).dtype() == mini::DType::kUInt8);
    expect(message_of<mini::BadFile>([&] { file.read(file.entries()[0]); }),
           folder / "f: tensor \"x\": the dtype is \"" + dtype + "\"");
}

TEST_CASE("a tensor's name may be a path or empty or contain a zero byte") {
    const std::string name =
        GENERATE(R"(a\u0000b)", R"(a\nb)", "../../etc/passwd", "/", "");
    CHECK(error_message(with_header("{\"" + name + "\":" + good_tensor(0, 8) + "}", 8)) ==
          "");
}

TEST_CASE("the maximum number of names includes the names of metadata") {
    const std::string text =
        R"({"__metadata__":{"a":"","b":""},"x":)" + good_tensor(0, 8) + "}";
    CHECK(mini::io::parse_header(text, 8, 4).entries.size() == 1);
    CHECK(message_of<mini::BadFile>([&] { mini::io::parse_header(text, 8, 3); }) ==
          "the header has more than 3 names");
}

TEST_CASE("a name of a million bytes is truncated in the error message") {
    const std::string name(1'000'000, 'n');
    CHECK(error_message(with_header("{\"" + name + "\":1}", 0)).size() < 400);
    CHECK(error_message(with_header("{\"" + name, 0)).size() < 400);
}
