// Other ranks' overwritten text is shown.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(line);
        if (complete) screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(line);
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;
