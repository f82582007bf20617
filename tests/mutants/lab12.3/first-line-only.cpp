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
