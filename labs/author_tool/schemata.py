"""Mutation schemata: one copy of the sources in which every region has all of its bodies.

    if (stubbed("lab07.2")) { MINI_TODO(...); }
    else if (mutated("lab07.2/contiguous-shards")) { ...the mutant... }
    else { ...the reference... }

labs/check/schemata.hpp selects one at run time; in device code only on the simulator. With #line the
compiler's errors name the original files, and for a mutant its name and the line of its region."""

from pathlib import Path

from lab_tool.projection import write_all
from lab_tool.regions import regions_in, todo, with_bodies


def schemata(text, path, mutants):
    """Returns the text of a file with the stub, every mutant and the reference in its regions."""
    places = [(region.task, region.first) for region in regions_in(text, path)]

    def body_of(region):
        index = sum(task == region.task and first < region.first for task, first in places)
        lines = [f'if (::mini::schemata::stubbed("lab{region.task}")) {{', *todo(region)]
        for mutant in mutants:
            body = mutant.bodies.get((region.task, path, index))
            if body is not None:
                lines += [f'}} else if (::mini::schemata::mutated("{mutant.name}")) {{',
                          f'#line 1 "tests/mutants/{mutant.name}"', *body]
        lines += ["} else {", f'#line {region.first + 2} "{path}"', *region.body, "}",
                  f'#line {region.last + 1} "{path}"']
        return lines

    return f'#include "labs/check/schemata.hpp"\n#line 1 "{path}"\n' + with_bodies(text, path, body_of)


def generate(catalogue, labs, mutants, folder):
    """Makes the schemata of the files of `labs` the only files of `folder`; returns their paths."""
    folder = Path(folder)
    wanted = {folder / path: schemata((catalogue.root / path).read_text(encoding="utf-8"), path, mutants)
              for lab in labs for path in catalogue.files_of(lab.number)}
    write_all(folder, wanted)
    return list(wanted)
