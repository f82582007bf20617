// The end of an inner no_sync ends the outer one.
// region: libmini/parallel/replicated_module.cpp
    sync_ = false;
    return NoSync([this] { sync_ = true; });
