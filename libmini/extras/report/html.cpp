#include "libmini/extras/report/html.hpp"

#include "libmini/core/error.hpp"
#include "libmini/extras/report/chart_text.hpp"

namespace mini::report {
namespace {

constexpr const char* kPageStyle = R"(
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --page: #ffffff;
        --line: #d9dfe7; --card: #f5f7fa; --mark: 0, 90, 160; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #a2adbb; --page: #14181f; --line: #333c49;
          --card: #1c222b; --mark: 60, 130, 200; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--ink);
       background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p, figcaption, .soft { color: var(--soft); margin: .3rem 0; }
.wide { overflow-x: auto; }
.wide > svg { display: block; width: 100%; min-width: 36rem; max-width: 48rem;
              height: auto; }
.pair { display: grid; gap: 1rem; grid-template-columns: 1fr 1fr; }
.pair > * { min-width: 0; }
.pair table { font-size: .85rem; }
.pair th, .pair td { padding: .2rem .4rem; }
@media (max-width: 50rem) { .pair { grid-template-columns: 1fr; } }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; }
th { font-weight: 600; color: var(--soft); white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
table.square td, table.square th { text-align: center; padding: .25rem .5rem; border: 0; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--soft); }
.images { display: grid; gap: .8rem;
          grid-template-columns: repeat(auto-fill, minmax(6.2rem, 1fr)); }
figure { margin: 0; padding: .5rem; background: var(--card); border-radius: 6px; }
figure img { width: 100%; image-rendering: pixelated; display: block; }
figcaption { font-size: .8rem; line-height: 1.3; margin-top: .3rem; }
img.samples { width: 100%; image-rendering: pixelated; border: 1px solid var(--line); }
.key { display: inline-block; width: .8em; height: .8em; margin-right: .35em;
       border-radius: 2px; }
)";

}  // namespace

std::string section(const std::string& heading, const std::string& body) {
    if (body.empty()) return "";
    return concat("<section>\n<h2>", escaped(heading), "</h2>\n", body, "</section>\n");
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<div class=\"wide\"><table>\n<tr>";
    for (const std::string& cell : head) text += concat("<th>", cell, "</th>");
    text += "</tr>\n";
    for (const auto& row : rows) {
        text += "<tr>";
        for (const std::string& cell : row) text += concat("<td>", cell, "</td>");
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

std::string page(const std::string& title, const std::string& body) {
    return concat(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>",
        escaped(title), "</title>\n<style>", kPageStyle,
        "</style>\n</head>\n<body>\n<main>\n", body, "</main>\n</body>\n</html>\n");
}

}  // namespace mini::report
