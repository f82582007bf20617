// An fsync that was interrupted is repeated, and then believed.
// region: libmini/io/file.cpp 3
    int failed = 0;
    while ((failed = file_system().fsync(fd_)) != 0 && errno == EINTR) {
    }
    if (failed != 0) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
