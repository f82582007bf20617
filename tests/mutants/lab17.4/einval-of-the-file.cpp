// The error of a folder's fsync that is none is none of the file's, either.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0 && errno != EINVAL) fail(path_, "fsync");
    const int fd = std::exchange(fd_, -1);
    if (file_system().close(fd) != 0) fail(path_, "close");
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
