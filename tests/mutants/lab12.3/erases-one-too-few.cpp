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
