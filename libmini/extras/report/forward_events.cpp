#include "libmini/extras/report/forward_events.hpp"

#include <cstddef>
#include <cstdint>

namespace mini::report {

ForwardEvents::ForwardEvents(nn::Module& network, EventLog& log) {
    const nn::NamedModules modules = network.named_modules();
    for (size_t i = 1; i < modules.size(); ++i) {  // the first one is the network
        nn::Module* const module = modules[i].second;
        const auto index = static_cast<int64_t>(i);
        const int before = module->register_forward_pre_hook(
            [&log, index](const nn::Module&, const Tensor&) {
                log.record(EventKind::kModuleBegin, index);
            });
        const int after = module->register_forward_hook(
            [&log, index](const nn::Module&, const Tensor&, const Tensor&) {
                log.record(EventKind::kModuleEnd, index);
            });
        hooks_.emplace_back(module, before);
        hooks_.emplace_back(module, after);
    }
}

ForwardEvents::~ForwardEvents() {
    for (const auto& [module, id] : hooks_) module->remove_hook(id);
}

}  // namespace mini::report
