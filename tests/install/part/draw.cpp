#include <iostream>

#include "libmini/random/python_random.hpp"

int main() {
    mini::PythonRandom python(1234);
    std::cout << "draw " << python.getrandbits(32) << '\n';
}
