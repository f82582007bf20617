// A file system that cannot sync folders is an error.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0;
    const int error_number = errno;
    file_system().close(fd);
    errno = error_number;
    if (!synced) fail(path, "fsync of its folder");
