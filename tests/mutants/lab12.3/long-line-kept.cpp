// A line without an end fills the memory.
// region: libmini/tools/minirun/output.cpp 1
    stream.line += bytes;
    size_t start = 0, end;
    while ((end = stream.line.find('\n', start)) != std::string::npos) {
        take_line(stream, std::string_view(stream.line).substr(start, end - start));
        start = end + 1;
    }
    stream.line.erase(0, start);

