// An event is later if any of its three numbers is larger.
// region: libmini/extras/simulation/event_queue.cpp 1
return a.when > b.when || a.order > b.order || a.number > b.number;
