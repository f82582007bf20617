// The samples of kernel_counts: library calls on small inputs. The simulator counts their
// memory accesses; on a GPU a profiler does.

#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mini::labs {

/// A library call on small inputs that launches one or more kernels.
struct KernelSample {
    std::string name;
    std::function<void()> run;
};

/// Returns all samples.
std::vector<KernelSample> kernel_samples();

/// Returns the samples with these names, or all samples if `names` is empty. Throws
/// UsageError for an unknown name; the message lists all names.
std::vector<KernelSample> chosen_samples(const std::vector<std::string>& names);

}  // namespace mini::labs
