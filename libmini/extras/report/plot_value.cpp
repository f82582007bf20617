#include "libmini/extras/report/plot_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/core/text.hpp"

namespace mini::report {
namespace {

constexpr size_t kLongestValue = 60;  // bytes of a value in a message

}  // namespace

std::string SpecValue::text() const {
    if (!json_->is_string()) fail("a text");
    return *json_;
}

double SpecValue::number() const {
    if (!json_->is_number()) fail("a number");
    return *json_;
}

bool SpecValue::flag() const {
    if (!json_->is_boolean()) fail("true or false");
    return *json_;
}

std::vector<SpecValue> SpecValue::list() const {
    if (!json_->is_array()) fail("a list in []");
    std::vector<SpecValue> values;
    for (const nlohmann::ordered_json& value : *json_)
        values.push_back(
            SpecValue(value, *file_, fmt::format("{}[{}]", place_, values.size())));
    return values;
}

void SpecValue::allow(const std::vector<std::string>& keys) const {
    if (!json_->is_object()) fail(fmt::format("an object with the keys {}", join(keys)));
    for (const auto& [key, value] : json_->items()) {
        if (std::ranges::find(keys, key) != keys.end()) continue;
        throw BadFile(fmt::format("{}: {} has the unknown key {}; its keys are {}",
                                  *file_, place(), nlohmann::json(key).dump(),
                                  join(keys)));
    }
}

SpecValue SpecValue::at(const std::string& key, const std::string& example) const {
    const auto found = find(key);
    if (found) return *found;
    throw BadFile(fmt::format("{}: {} has no key \"{}\": add \"{}\": {}", *file_, place(),
                              key, key, example));
}

std::optional<SpecValue> SpecValue::find(const std::string& key) const {
    const auto found = json_->find(key);
    if (found == json_->end()) return std::nullopt;
    return SpecValue(*found, *file_,
                     place_.empty() ? key : fmt::format("{}.{}", place_, key));
}

void SpecValue::fail(const std::string& wanted) const {
    std::string value = json_->dump();
    if (value.size() > kLongestValue) {
        value.resize(kLongestValue);
        value += "...";
    }
    throw BadFile(
        fmt::format("{}: {} is {}, but must be {}", *file_, place(), value, wanted));
}

}  // namespace mini::report
