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
