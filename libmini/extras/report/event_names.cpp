#include "libmini/extras/report/event_names.hpp"

#include <cstddef>

#include "libmini/core/error.hpp"

namespace mini::report {
namespace {

std::string name_at(const std::vector<std::string>& names, int64_t index,
                    const char* kind) {
    const auto i = static_cast<size_t>(index);
    return i < names.size() ? names[i] : concat(kind, " ", index);
}

}  // namespace

std::string EventNames::parameter(int64_t index) const {
    return name_at(parameters, index, "parameter");
}

std::string EventNames::module(int64_t index) const {
    return name_at(modules, index, "module");
}

EventNames event_names(nn::Module& network) {
    EventNames names;
    for (const auto& [name, parameter] : network.named_parameters())
        if (parameter.requires_grad()) names.parameters.push_back(name);
    for (const auto& [name, module] : network.named_modules())
        names.modules.push_back(name);
    return names;
}

std::string shown_name(const Event& event, const EventNames& names) {
    switch (event.kind) {
        case EventKind::kModuleBegin:
        case EventKind::kModuleEnd: return names.module(event.index);
        case EventKind::kGradReady:
            return concat("gradient ready ", names.parameter(event.index));
        case EventKind::kBucketLaunch: return concat("bucket ", event.index, " launched");
        default: return event.name;
    }
}

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
