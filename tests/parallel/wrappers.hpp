// The four modules that average gradients, to test what all of them have in common.

#pragma once

#include <array>
#include <memory>
#include <string>

#include "libmini/parallel/averaging_modules.hpp"
#include "libmini/parallel/ddp.hpp"

namespace mini::test {

enum class Wrapper { kAveraged, kFlat, kOverlapped, kDDP };

inline constexpr std::array kWrappers = {Wrapper::kAveraged, Wrapper::kFlat,
                                         Wrapper::kOverlapped, Wrapper::kDDP};

inline std::string name_of(Wrapper wrapper) {
    switch (wrapper) {
        case Wrapper::kAveraged: return "AveragedModule";
        case Wrapper::kFlat: return "FlatModule";
        case Wrapper::kOverlapped: return "OverlappedModule";
        case Wrapper::kDDP: return "DistributedDataParallel";
    }
    return "";
}

inline std::unique_ptr<parallel::ReplicatedModule> wrap(Wrapper wrapper,
                                                        nn::Module& module) {
    switch (wrapper) {
        case Wrapper::kAveraged:
            return std::make_unique<parallel::AveragedModule>(module);
        case Wrapper::kFlat: return std::make_unique<parallel::FlatModule>(module);
        case Wrapper::kOverlapped:
            return std::make_unique<parallel::OverlappedModule>(module);
        case Wrapper::kDDP:
            return std::make_unique<parallel::DistributedDataParallel>(module);
    }
    return nullptr;
}

}  // namespace mini::test
