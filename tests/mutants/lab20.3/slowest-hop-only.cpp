// Every step takes as long as the slowest hop.
// region: libmini/extras/scaling/all_reduce_on_links.cpp 1
double longest = 0;
for (const dist::Route& way : to_right)
    longest = std::max(longest, chunk_bytes(bytes, P, P - 1) / way.bytes_per_second +
                                    in_seconds(way.delay));
for (double& each : begin) each = 2 * (P - 1) * longest;
