"""usage: translate_kernels.py FOLDER_OF_TRANSLATE_PY FILE.cu PATH TO

Writes the C++ text of a plain .cu file, which compilers are to call PATH."""

import sys
from pathlib import Path

folder, file, path, to = sys.argv[1:]
sys.path.insert(0, folder)
from translate import translate  # noqa: E402

text = translate(Path(file).read_text(encoding="utf-8"), lambda name, is_quoted: None)
Path(to).write_text(f'#line 1 "{path}"\n{text}', encoding="utf-8")
