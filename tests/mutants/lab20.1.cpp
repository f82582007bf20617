// --- all-numbers-equal
// The events are not counted.
// region: libmini/extras/simulation/event_queue.cpp 2
events_.push_back({when, order, next_number_, std::move(action)});
std::ranges::push_heap(events_, is_later);

// --- appended-only
// The new event is not moved to its place in the heap.
// region: libmini/extras/simulation/event_queue.cpp 2
events_.push_back({when, order, next_number_++, std::move(action)});

// --- clock-after-the-action
// The action sees the time of the event before it.
// region: libmini/extras/simulation/event_queue.cpp 3
if (events_.empty()) return false;
std::ranges::pop_heap(events_, is_later);
const Event next = std::move(events_.back());
events_.pop_back();
next.action();
now_ = next.when;
return true;

// --- each-comparison-alone
// An event is later if any of its three numbers is larger.
// region: libmini/extras/simulation/event_queue.cpp 1
return a.when > b.when || a.order > b.order || a.number > b.number;

// --- latest-first
// The heap has the latest event in front.
// region: libmini/extras/simulation/event_queue.cpp 1
return std::tie(a.when, a.order, a.number) < std::tie(b.when, b.order, b.number);

// --- orders-with-a-sign
// The largest orders count as negative.
// region: libmini/extras/simulation/event_queue.cpp 1
const auto x = static_cast<int64_t>(a.order), y = static_cast<int64_t>(b.order);
return std::tie(a.when, x, a.number) > std::tie(b.when, y, b.number);

// --- removed-after-its-action
// The event is still in the queue while its action runs.
// region: libmini/extras/simulation/event_queue.cpp 3
if (events_.empty()) return false;
now_ = events_.front().when;
const auto action = events_.front().action;
action();
if (events_.empty()) return true;
std::ranges::pop_heap(events_, is_later);
events_.pop_back();
return true;

// --- times-only
// Events of one time run in the order of the heap.
// region: libmini/extras/simulation/event_queue.cpp 1
return a.when > b.when;
