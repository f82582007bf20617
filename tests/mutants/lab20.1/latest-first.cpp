// The heap has the latest event in front.
// region: libmini/extras/simulation/event_queue.cpp 1
return std::tie(a.when, a.order, a.number) < std::tie(b.when, b.order, b.number);
