// Events of one time run in the order of the heap.
// region: libmini/extras/simulation/event_queue.cpp 1
return a.when > b.when;
