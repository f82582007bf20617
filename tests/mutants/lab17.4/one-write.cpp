// One write is taken to write everything.
// region: libmini/io/file.cpp 2
    if (file_system().write(fd_, bytes) < 0) fail(path_, "write");
