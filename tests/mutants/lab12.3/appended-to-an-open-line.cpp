// A line of another rank is appended to rank 0's unfinished one.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(line);
        if (complete) screen.put("\n");
    } else {
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;
