// A bucket is ready with its first gradient.
// region: libmini/extras/scaling/bucket_timeline.cpp 2
for (size_t i = 0; i < buckets.size(); ++i)
    for (const size_t index : buckets[i])
        queue.at(dist::virtual_time(gradients[index].ready), 0, [&, i, index] {
            times[i].bytes += gradients[index].bytes;
            if (times[i].ready == 0) times[i].ready = now();
            if (--missing[i] == 0) serve();
        });
