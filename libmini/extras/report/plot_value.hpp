// A value of a JSON file with its place in the file, for errors that name both:
//
//     chart.json: series[0].points[2] is "7", but must be [x, y] or [x, y, low, high]

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mini::report {

/// A value of a file. Every function throws BadFile, with the place, the value and what
/// it must be, if the value has another type. REQUIRES: the JSON and the file's name
/// outlive this object.
class SpecValue {
  public:
    SpecValue(const nlohmann::ordered_json& json, const std::string& file)
        : SpecValue(json, file, "") {}

    std::string text() const;
    double number() const;
    bool flag() const;
    std::vector<SpecValue> list() const;

    bool is_text() const { return json_->is_string(); }
    bool is_list() const { return json_->is_array(); }
    bool is_null() const { return json_->is_null(); }

    /// Throws unless this value is an object without keys other than these.
    void allow(const std::vector<std::string>& keys) const;

    /// Returns the value of a key. Throws if there is no such key; `example` is the value
    /// that the message proposes. REQUIRES: allow() was called.
    SpecValue at(const std::string& key, const std::string& example) const;

    /// Returns the value of a key if there is one. REQUIRES: allow() was called.
    std::optional<SpecValue> find(const std::string& key) const;

    /// Throws BadFile: "chart.json: series[0].style is "dashes", but must be ...".
    [[noreturn]] void fail(const std::string& wanted) const;

  private:
    SpecValue(const nlohmann::ordered_json& json, const std::string& file,
              std::string place)
        : json_(&json), file_(&file), place_(std::move(place)) {}

    std::string place() const { return place_.empty() ? "the chart" : place_; }

    const nlohmann::ordered_json* json_;
    const std::string* file_;
    std::string place_;
};

}  // namespace mini::report
