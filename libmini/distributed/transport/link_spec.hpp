// LinkSpec: the rate and the delay of a network link, read from a text.

#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace mini::dist {

/// The rate and the delay of a link.
struct LinkSpec {
    double bytes_per_second = 0;
    std::chrono::nanoseconds delay{};  // one way
};

/// Parses "100Mbit,5ms", "1Gbit" or "1Gbit,50us": a rate from 1kbit to 1000Gbit per
/// second (in kbit, Mbit or Gbit) and, optionally, a delay from 1us to 60s (in us, ms or
/// s). Returns std::nullopt for "". Throws UsageError for any other text.
std::optional<LinkSpec> parse_link(const std::string& text);

}  // namespace mini::dist
