// The largest orders count as negative.
// region: libmini/extras/simulation/event_queue.cpp 1
const auto x = static_cast<int64_t>(a.order), y = static_cast<int64_t>(b.order);
return std::tie(a.when, x, a.number) > std::tie(b.when, y, b.number);
