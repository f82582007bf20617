// The main function of all test programs with Catch2 version 2. Version 3 has its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
