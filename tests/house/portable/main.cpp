// Prints the level of the library that was loaded, and how often `below` was called: twice
// if the program has one copy of it.

#include <iostream>

int count_call();
const char* level();

int main() {
    std::cout << level() << ' ';
    std::cout << count_call() << '\n';
}
