// The new event is not moved to its place in the heap.
// region: libmini/extras/simulation/event_queue.cpp 2
events_.push_back({when, order, next_number_++, std::move(action)});
