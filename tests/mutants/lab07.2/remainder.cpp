// A remainder instead of a new try: small numbers come more often.
// region: libmini/random/python_random.cpp 2
    return getrandbits(64) % bound;
