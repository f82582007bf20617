// The error of an fsync is reported with the errno of the close after it.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    const bool synced = file_system().fsync(fd) == 0 || errno == EINVAL;
    file_system().close(fd);
    if (!synced) fail(path, "fsync of its folder");
