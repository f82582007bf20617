#include "tests/fuzz/target.hpp"

#include <stdexcept>

#include "libmini/core/error.hpp"

namespace mini::fuzz {

std::vector<Target> all_targets() {
    std::vector<Target> all;
    for (const auto& targets :
         {file_targets(), picture_targets(), launch_targets(), store_targets(),
          mesh_targets(), channel_targets(), flight_targets()})
        all.insert(all.end(), targets.begin(), targets.end());
    return all;
}

bool accepts(const Target& target, Input input) {
    try {
        target.run(input);
        return true;
    } catch (const Error&) {
        return false;
    }
}

void require(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
}

void require_success(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        throw std::logic_error(error.what());
    }
}

Input bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(Input input) {
    return {reinterpret_cast<const char*>(input.data()), input.size()};
}

std::string text_of(const std::vector<uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
}

}  // namespace mini::fuzz
