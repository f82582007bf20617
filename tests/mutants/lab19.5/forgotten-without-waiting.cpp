// The parts are removed while their reductions are in flight.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
    parts.clear();
