// The room with levels.

int count_call();

const char* level() {
    count_call();
#if defined(__AVX512F__) && defined(__AVX512VL__)
    return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__)
    return "x86-64-v3";
#else
    return "x86-64";
#endif
}
