// A descriptor whose close reports an error is closed again.
// region: libmini/io/file.cpp 3
    if (file_system().fsync(fd_) != 0) fail(path_, "fsync");
    if (file_system().close(fd_) != 0) fail(path_, "close");
    fd_ = -1;
    if (file_system().rename(temporary_, path_) != 0) fail(path_, "rename");
    temporary_.clear();
    sync_folder(path_);
