// line_open is set and never cleared.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(line);
        if (complete) screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    if (stream.rank == 0 && !complete) screen.line_open = true;
