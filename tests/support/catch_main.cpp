// The main function of every test program under Catch2 v2, compiled once; v3 has its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
