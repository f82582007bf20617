// The folder's descriptor is not closed.
// region: libmini/io/file.cpp 1
    const int fd = file_system().open_folder(folder.empty() ? "." : folder);
    if (fd < 0) fail(path, "opening its folder to fsync it");
    if (file_system().fsync(fd) != 0 && errno != EINVAL) fail(path, "fsync of its folder");
