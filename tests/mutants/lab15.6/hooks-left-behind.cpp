// The destructor clears its list and leaves the hooks.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 2
    hooks_.clear();
