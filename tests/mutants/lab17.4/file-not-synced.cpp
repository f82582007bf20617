// The file is renamed before its contents are on disk.
// region: libmini/io/file.cpp 3
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
