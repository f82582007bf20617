#include "libmini/report/profiler_ranges.hpp"

#include <string>
#include <utility>

namespace mini::report {

ProfilerRanges::ProfilerRanges(EventLog& log, EventNames names,
                               std::unique_ptr<cuda::Profiler> profiler)
    : log_(log), names_(std::move(names)), profiler_(std::move(profiler)) {
    log_.listen([this](const Event& event) { pass(event); });
}

ProfilerRanges::~ProfilerRanges() { log_.listen({}); }

void ProfilerRanges::pass(const Event& event) {
    const std::string name = shown_name(event, names_);
    switch (event.kind) {
        case EventKind::kSpanBegin:
        case EventKind::kModuleBegin: profiler_->push(name.c_str()); break;
        case EventKind::kSpanEnd:
        case EventKind::kModuleEnd: profiler_->pop(); break;
        case EventKind::kGradReady:
        case EventKind::kBucketLaunch: profiler_->mark(name.c_str()); break;
        case EventKind::kCollectiveBegin:
            collectives_[event.index] = profiler_->start(name.c_str());
            break;
        case EventKind::kCollectiveEnd:
            if (const auto range = collectives_.extract(event.index))
                profiler_->end(range.mapped());
            break;
        default: break;
    }
}

}  // namespace mini::report
