// The action sees the time of the event before it.
// region: libmini/extras/simulation/event_queue.cpp 3
if (events_.empty()) return false;
std::ranges::pop_heap(events_, is_later);
const Event next = std::move(events_.back());
events_.pop_back();
next.action();
now_ = next.when;
return true;
