"""Each file includes the standard headers of the names that it uses.

A compiler accepts a name if any included header happens to include the name's header, which the next
version of the standard library may no longer do. This test reads the sources: for each name of NAMES
that a file uses, the file or the header that it implements must include one of the name's headers.
CMakeLists.txt in this folder compiles each header alone.
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# For each header: the names of namespace std that the header declares and that libmini uses.
NAMES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if "
                 "equal equal_range fill fill_n find find_if find_if_not for_each generate includes "
                 "lower_bound max max_element min min_element minmax_element mismatch none_of "
                 "nth_element partial_sort partition remove remove_if replace reverse rotate "
                 "search set_difference sort stable_sort swap_ranges transform unique upper_bound",
    "array": "array",
    "atomic": "atomic atomic_flag atomic_ref atomic_thread_fence memory_order_acquire "
              "memory_order_relaxed memory_order_release memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "ceil exp expm1 fabs floor fma fmax fmin frexp hypot isfinite isinf isnan ldexp log "
             "log1p log2 lround nextafter pow round signbit sqrt tanh trunc",
    "condition_variable": "condition_variable",
    "cstdio": "fclose fopen fprintf fputs fread fwrite printf snprintf FILE",
    "cstdlib": "abort exit getenv quick_exit strtod strtol strtoull system _Exit",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strncmp",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception "
                 "terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "cref function greater hash invoke less minus multiplies not_fn plus ref",
    "future": "async future packaged_task promise",
    "initializer_list": "initializer_list",
    "iomanip": "setfill setprecision setw",
    "iostream": "cerr cin clog cout",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "addressof dynamic_pointer_cast enable_shared_from_this make_shared make_unique "
              "shared_ptr static_pointer_cast unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock",
    "new": "align_val_t bad_alloc nothrow",
    "numbers": "numbers",
    "numeric": "accumulate exclusive_scan gcd inner_product iota midpoint partial_sum reduce "
               "transform_reduce",
    "optional": "make_optional nullopt optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "regex": "regex regex_match regex_search smatch",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument length_error logic_error out_of_range runtime_error",
    "string": "getline stod stoi stol stoll stoul stoull string to_string",
    "string_view": "string_view",
    "system_error": "error_code errc generic_category system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "make_tuple tie tuple",
    "type_traits": "common_type_t conditional_t decay_t invoke_result_t is_base_of_v is_same_v "
                   "make_signed_t make_unsigned_t remove_const_t remove_cvref_t type_identity_t "
                   "underlying_type_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "as_const cmp_less declval exchange index_sequence make_index_sequence pair",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}

# Names that are used without std::, and the headers that declare them (one header is enough).
BARE = (
    (re.compile(r"\bu?int(?:8|16|32|64)_t\b|\bu?intptr_t\b|\bU?INT(?:8|16|32|64)_(?:MAX|MIN)\b"),
     ("cstdint",)),
    (re.compile(r"\bsize_t\b"),
     ("cstddef", "cstdio", "cstdlib", "cstring", "ctime")),
    (re.compile(r"\bptrdiff_t\b|\bstd::byte\b"), ("cstddef",)),
    (re.compile(r"\berrno\b"), ("cerrno",)),
)
# For each header: other headers whose interface uses its names; one of these headers is enough.
STANDS_FOR = {
    "cstddef": {"array", "deque", "map", "new", "set", "span", "string", "string_view",
                "unordered_map", "unordered_set", "vector"},
    "cmath": {"complex"},
    "exception": {"stdexcept"},
    "string_view": {"string"},
    "utility": {"map", "tuple", "unordered_map", "vector", "algorithm", "memory"},
    "iostream": set(),
}
USED = re.compile(r"\bstd::(?:ranges::)?(\w+)")
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.M)
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)', re.M)
NOT_CODE = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^\s*#\s*include[^\n]*', re.M | re.S)


def included(text):
    return set(SYSTEM_INCLUDE.findall(text))


def own_header(path, text):
    """Returns the header that a source implements (its first include, if it is a header of libmini), or
    None."""
    first = FIRST_INCLUDE.search(text)
    if path.suffix == ".hpp" or not first or first.group(1) != '"':
        return None
    candidates = (ROOT / first.group(2), path.parent / first.group(2))
    return next((header for header in candidates if header.is_file()), None)


def wanted(text):
    """Returns {header: a name that needs the header} for the text of a source."""
    code = NOT_CODE.sub(" ", text)
    found = {}
    for name in USED.findall(code):
        if name in HEADER_OF:
            found.setdefault(HEADER_OF[name], f"std::{name}")
    for pattern, headers in BARE:
        use = pattern.search(code)
        if use:
            found.setdefault(headers[0], use.group())
    return found


def missing(path):
    """Returns (header, name) for each header that a file needs, because of the name, but does not
    include."""
    text = path.read_text(encoding="utf-8")
    have = included(text)
    header = own_header(path, text)
    if header:
        have |= included(header.read_text(encoding="utf-8"))
    alternatives = {headers[0]: set(headers) for _, headers in BARE}
    return [(header, name) for header, name in sorted(wanted(text).items())
            if not have & ({header} | alternatives.get(header, set()) | STANDS_FOR.get(header, set()))]


def our_files(*suffixes):
    for folder in ("labs", "libmini", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file() and ROOT / "tests/mutants" not in path.parents:
                yield path


class Includes(unittest.TestCase):
    def test_each_file_includes_the_standard_headers_that_it_uses(self):
        problems = [f"{path.relative_to(ROOT)}: {name} needs #include <{header}>"
                    for path in our_files(".cpp", ".hpp", ".cu") for header, name in missing(path)]
        self.assertEqual(problems, [], "\n" + "\n".join(problems))

    def test_a_source_includes_its_own_header_first(self):
        """Compiling the source then checks that the header compiles alone."""
        problems = []
        for path in our_files(".cpp", ".cu"):
            header = path.with_suffix(".hpp")
            text = path.read_text(encoding="utf-8")
            if header.is_file() and own_header(path, text) != header:
                problems.append(f"{path.relative_to(ROOT)} does not include {header.name} first")
        self.assertEqual(problems, [], "\n" + "\n".join(problems))


class TheRules(unittest.TestCase):
    def test_names_in_comments_and_texts_need_nothing(self):
        self.assertEqual(wanted('// std::vector\nauto x = "std::map"; /* int64_t */'), {})

    def test_a_name_needs_its_header(self):
        self.assertEqual(wanted("std::vector<int64_t> x; std::ranges::sort(x);"),
                         {"vector": "std::vector", "cstdint": "int64_t", "algorithm": "std::sort"})


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for file in our_files(".cpp", ".hpp", ".cu"):
            for needed, _ in missing(file):
                print(f"{file.relative_to(ROOT)} {needed}")
    else:
        unittest.main()
