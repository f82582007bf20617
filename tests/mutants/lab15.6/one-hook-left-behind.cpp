// The last hook is not removed.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 2
    for (size_t i = 0; i + 1 < hooks_.size(); ++i)
        hooks_[i].accumulator->remove_hook(hooks_[i].id);
