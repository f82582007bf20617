// --- appended-to-an-open-line
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

// --- carriage-returns-shown
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

// --- each-read-is-a-line
// Each read is taken for one line.
// region: libmini/tools/minirun/output.cpp 1
    take_line(stream, bytes.substr(0, bytes.find_last_not_of('\n') + 1));

// --- empty-lines-dropped
// Empty lines are dropped.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        if (end > start) take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- erases-one-too-few
// The last newline stays in the buffer.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start == 0 ? 0 : start - 1);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- first-line-only
// Only the first line of a read is taken now.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    if ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- line-stays-open
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

// --- lines-not-erased
// Lines that are taken stay in the buffer.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- long-line-dropped
// A very long line is dropped.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    stream.line.clear();

// --- long-line-kept
// A line without an end fills the memory.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);

// --- long-line-twice
// A piece of a very long line is not cleared.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);

// --- newline-included
// The newline stays in the line.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end + 1 - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- not-remembered
// The lines are put but not remembered for the report.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        put_line(stream, std::string_view(stream.line).substr(start, end - start), true);
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, false);
    stream.line.clear();

// --- open-after-any-incomplete-line
// Another rank's incomplete line counts as open, though it got a newline.
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
    screen.line_open = !complete;

// --- pieces-are-lines
// A piece of a very long line is taken for a line.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);
    if (stream.line.size() < kMaxLineBytes) return;
    put_line(stream, stream.line, true);
    stream.line.clear();

// --- rank-0-always-newline
// An incomplete line of rank 0 gets a newline.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(line);
        screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;

// --- rank-0-has-a-prefix
// Rank 0 gets a prefix too.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(prefix(stream.rank, screen));
        screen.put(line);
        if (complete) screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;

// --- rank-0-visible-only
// Only the visible part of rank 0's lines is shown.
// region: libmini/tools/minirun/output.cpp 2
    if (stream.rank == 0) {
        screen.put(visible(line));
        if (complete) screen.put("\n");
    } else {
        if (screen.line_open) screen.put("\n");
        screen.put(prefix(stream.rank, screen));
        screen.put(visible(line));
        screen.put("\n");
    }
    screen.line_open = stream.rank == 0 && !complete;

// --- rest-is-lost
// The bytes after the last newline are lost.
// region: libmini/tools/minirun/output.cpp 1
    size_t start = 0, end;
    while ((end = bytes.find('\n', start)) != std::string::npos) {
        take_line(stream, bytes.substr(start, end - start));
        start = end + 1;
    }

// --- rest-kept-by-the-caller
// Lines are searched in the new bytes only; their beginning is left out.
// region: libmini/tools/minirun/output.cpp 1
    size_t start = 0, end;
    while ((end = bytes.find('\n', start)) != std::string::npos) {
        take_line(stream, bytes.substr(start, end - start));
        start = end + 1;
    }
    stream.line = bytes.substr(start);
