// The events are not counted.
// region: libmini/extras/simulation/event_queue.cpp 2
events_.push_back({when, order, next_number_, std::move(action)});
std::ranges::push_heap(events_, is_later);
