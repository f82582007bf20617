// A bucket is sent before its last gradient.
// region: libmini/extras/scaling/bucket_timeline.cpp 1
if (is_busy || next == buckets.size()) return;
is_busy = true;
times[next].begin = now();
const double seconds = all_reduce_seconds(times[next].bytes);
queue.at(queue.now() + dist::virtual_time(seconds), 0, [&] {
    times[next++].end = now();
    is_busy = false;
    serve();
});
