// The bytes after the last newline are lost.
// region: libmini/tools/minirun/output.cpp 1
    size_t start = 0, end;
    while ((end = bytes.find('\n', start)) != std::string::npos) {
        take_line(stream, bytes.substr(start, end - start));
        start = end + 1;
    }
