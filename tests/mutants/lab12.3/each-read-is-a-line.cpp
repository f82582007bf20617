// Each read is taken for one line.
// region: libmini/tools/minirun/output.cpp 1
    take_line(stream, bytes.substr(0, bytes.find_last_not_of('\n') + 1));
