// The rank and the number of replicas of a distributed sampler, and checks of its arguments.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libmini/core/world.hpp"

namespace mini::data {

/// Returns the rank and the number of replicas for a sampler; takes a std::nullopt value
/// from current_world(). Throws UsageError, in a message that begins with `who`, when a
/// value is std::nullopt and init_process_group has not been called on this thread, when
/// num_replicas is below 1, or when rank is not in [0, num_replicas).
World choose_replica(const std::string& who, std::optional<int> num_replicas,
                     std::optional<int> rank);

/// Throws UsageError, which names `who` and the size, when dataset_size is negative.
void check_dataset_size(const std::string& who, int64_t dataset_size);

}  // namespace mini::data
