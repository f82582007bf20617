"""The pages in Chinese, docs/zh, name the English paragraph of each part, and keep code as it is.

    python3 tests/docs/translation_test.py --hashes labs/07-partition/README.md    for a translator
    python3 tests/docs/translation_test.py --stale    what has changed in English since

A stale translation is no failure: the site shows it at the page's top (docs/site/translations.py)."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

from translations import Translation, hash_of, is_code, paragraphs, start_of, translations  # noqa: E402

CHINESE = re.compile(r" *(?:#|//)? *[\u3000-\u9fff\uff00-\uffef].*")  # to the line's end


def changed_code(page):
    """Yields the lines of code that are not in their English paragraph, but for Chinese at their end."""
    text = (ROOT / page.source).read_text(encoding="utf-8")
    english = {hash_of(one): one.split("\n") for one in paragraphs(text)}
    for digest, part in zip(page.hashes, page.parts):
        if digest in english and is_code(part.strip("\n")):
            for line in CHINESE.sub("", part).split("\n"):
                if not any(one.strip().startswith(line.strip()) for one in english[digest]):
                    yield line


class Pages(unittest.TestCase):
    def test_each_page_has_the_form_and_the_code_of_its_english_page(self):
        self.assertGreater(len(translations()), 9)
        for page in translations():
            with self.subTest(page.name):
                self.assertEqual(page.faults(), [])
                self.assertEqual(list(changed_code(page)), [])


class TheRules(unittest.TestCase):
    ENGLISH = "# A\n\nOne two.\n\n    x\n\n    y\n\n<details>\n\nThree.\n\n</details>\n"

    def page(self, english, chinese):
        """Returns the page that `chinese` is; {2} in it stands for the line that names paragraph 2."""
        with tempfile.TemporaryDirectory() as folder:
            marks = [f"<!-- en: {hash_of(one)} -->\n" for one in paragraphs(self.ENGLISH)]
            (Path(folder) / "a.md").write_text(chinese.format(*marks), encoding="utf-8")
            (Path(folder) / "en.md").write_text(english, encoding="utf-8")
            made = Translation(Path(folder) / "a.md", Path(folder))
            return made.faults() or made.stale()

    def test_stale_is_what_differs_in_words_or_order(self):
        chinese = ("<!-- of: en.md -->\n\n{0}# 甲\n\n{1}一。\n\n{2}    x\n\n    y\n\n"
                   "<details>\n\n{3}二。\n\n</details>\n")
        self.assertEqual(self.page(self.ENGLISH, chinese), [])
        for before, after, stale in (
                ("One two", "One\ntwo", []), ("two", "2", ["paragraph 2 has changed or is new: One 2."]),
                ("Three.", "Three.\n\nFour.", ["paragraph 5 has changed or is new: Four."]),
                ("Three.", "", ["part 4: its paragraph is gone: 二。 </details>"])):
            self.assertEqual(self.page(self.ENGLISH.replace(before, after), chinese), stale)
        self.assertEqual(len(self.page(self.ENGLISH, chinese.replace("{1}一。", "") + "{1}一。")), 2)

    def test_each_fault_of_form_is_found(self):
        for chinese in ("{0}# 甲", "<!-- of: no.md -->\n{0}# 甲", "<!-- of: en.md -->\n甲\n{0}甲",
                        "<!-- of: en.md -->\n{0}甲\n<!-- en: 12 -->\n乙", "<!-- of: en.md -->\n{0}\n{1}乙"):
            self.assertEqual(len(self.page(self.ENGLISH, chinese)), 1, chinese)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hashes"]:
        for one in paragraphs(Path(sys.argv[2]).read_text(encoding="utf-8")):
            print(f"<!-- en: {hash_of(one)} -->  {start_of(one)}")
    elif sys.argv[1:] == ["--stale"]:
        for page in translations():
            for line in page.stale():
                print(f"docs/zh/{page.name[3:]}.md: {line}")
    else:
        unittest.main()
