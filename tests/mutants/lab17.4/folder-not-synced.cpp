// The folder is opened, and never synced.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    file_system().close(fd);
