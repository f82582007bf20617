// A room that the program and the room with levels use.

namespace {
int calls = 0;
}

int count_call() { return ++calls; }
