"""The functions of a source, and which of them a learner's file lacks."""

import unittest
from unittest import mock

from lab_tool import not_written
from lab_tool.not_written import defined_in, instantiations_in, short_name

SOURCE = """\
#include "libmini/part.hpp"

namespace mini {
namespace {

int helper(int x) {
    return x;
}

}  // namespace

Part::Part(std::function<void(int)> call, int n)
    : call_(std::move(call)), n_(n) {
    // [lab07.1] Begin.
    begin();
    // [lab07.1]
}

Part::~Part() = default;

std::vector<std::function<int(int)>> Part::all(
    int n) const {
    return {};
}

bool operator==(const Part& a, const Part& b) { return a.n() == b.n(); }

template <class T>
T Part::get() const {
    // [lab07.2] Get.
    return T{};
    // [lab07.2]
}
template int Part::get() const;
template class Loop<2>;

const int kSize = helper(3);

}  // namespace mini
"""


class Definitions(unittest.TestCase):
    def test_a_source_defines_these_functions(self):
        self.assertEqual([each.name for each in defined_in(SOURCE)],
                         ["helper", "Part::Part", "Part::~Part", "Part::all", "operator==",
                          "Part::get"])
        self.assertEqual(instantiations_in(SOURCE), ["Part::get", "Loop"])

    def test_a_short_name_has_no_arguments(self):
        for name, short in (
                ("mini::Part::all(int) const", "mini::Part::all"),
                ("int mini::Part::get<int>() const", "mini::Part::get"),
                ("std::vector<std::function<int (int)>> mini::cut(int)", "mini::cut"),
                ("mini::Part::~Part()", "mini::Part::~Part"), ("twice", "twice")):
            self.assertEqual(short_name(name), short)


NAMES = {"a": "mini::Part::Part(int)", "b": "mini::Part::all(int) const",
         "c": "int mini::Part::get<int>() const", "d": "mini::Part::size() const",
         "e": "mini::Loop<2>::begin()"}


class Lacking(unittest.TestCase):
    def missing(self, mine, theirs):
        with mock.patch("lab_tool.not_written.demangled", lambda symbols: NAMES):
            found = not_written.missing_functions(mine, theirs, {"libmini/part.cpp": SOURCE})
        return {each.symbol: (each.name, each.tasks) for each in found}

    def test_a_function_has_the_task_of_its_region_or_those_of_its_file(self):
        self.assertEqual(self.missing({}, {"a": "T", "b": "T", "c": "W"}),
                         {"a": ("Part::Part", "07.1"), "b": ("Part::all", "07.1,07.2"),
                          "c": ("Part::get", "07.2")})

    def test_what_is_written_or_inline_is_not_missing(self):
        self.assertEqual(self.missing({"a": "T"}, {"a": "T", "d": "W", "kSize": "D"}), {})
        self.assertEqual(list(self.missing({}, {"e": "W"})), ["e"])

    def test_a_virtual_table_is_needed_if_a_function_of_its_class_is(self):
        theirs = {"_ZTVN4mini4PartE": "V", "_ZNK4mini4Part3allEi": "T"}
        self.assertTrue(not_written.lacks_data({}, theirs))
        self.assertFalse(not_written.lacks_data({"_ZTVN4mini4PartE": "V"}, theirs))
        self.assertFalse(not_written.lacks_data({}, {**theirs, "_ZNK4mini4Part3allEi": "W"}))

    def test_only_the_labs_objects_count(self):
        objects = ["/b/mini_data.dir/./Unity/unity_lab07_cxx.cxx.o", "/b/mini_data.dir/./part.cpp.o",
                   "/b/mini_data.dir/Unity/unity_lab08_cxx.cxx.o", "/b/mini_data.dir/apart.cpp.o",
                   "/c/course/mini_data.lab07.0.o", "/c/course/mini_data.lab09.0.o"]
        self.assertEqual(not_written.of_sources(objects, ["libmini/data/part.cpp"], ["07"]),
                         [objects[0], objects[1], objects[4]])
