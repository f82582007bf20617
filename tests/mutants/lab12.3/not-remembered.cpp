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
