// An interrupted write is an error.
// region: libmini/io/file.cpp 2
    while (!bytes.empty()) {
        const ssize_t n = file_system().write(fd_, bytes);
        if (n < 0) fail(path_, "write");
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
