#include "libmini/parallel/overlap.hpp"

#include <algorithm>

namespace mini::parallel {

double hidden_communication(const std::vector<Event>& events) {
    struct Span {
        int64_t begin;
        int64_t end;
    };
    std::vector<Span> reductions;  // of the present backward pass
    int64_t launched = 0;          // bucket launches whose all-reduce has not begun
    int64_t backward_end = 0;
    int64_t total = 0;
    int64_t hidden = 0;

    for (const Event& event : events) {
        switch (event.kind) {
            case EventKind::kBucketLaunch: ++launched; break;
            case EventKind::kCollectiveBegin:
                if (launched > 0) {
                    --launched;
                    reductions.push_back({event.nanoseconds, 0});
                }
                break;
            case EventKind::kCollectiveEnd: {
                const auto open = std::ranges::find(reductions, 0, &Span::end);
                if (open != reductions.end()) open->end = event.nanoseconds;
                break;
            }
            case EventKind::kBackwardEnd: backward_end = event.nanoseconds; break;
            case EventKind::kBucketDone:
                // The last one of a pass comes when all its reductions have ended.
                for (const Span& span : reductions) {
                    if (span.end == 0) continue;
                    total += span.end - span.begin;
                    hidden += std::max<int64_t>(
                        0, std::min(span.end, backward_end) - span.begin);
                }
                std::erase_if(reductions, [](const Span& span) { return span.end != 0; });
                break;
            default: break;
        }
    }
    return total == 0 ? 0.0 : static_cast<double>(hidden) / static_cast<double>(total);
}

}  // namespace mini::parallel
