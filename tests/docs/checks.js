// Checks of the page that is open, run in it by browser_test.py. Each function returns an array of
// sentences, one for each fault. WCAG: https://www.w3.org/TR/WCAG22/

const checks = (() => {
  // The elements that the keyboard can reach.
  const FOCUSABLE = "a[href], button, input, select, textarea, summary, iframe, [tabindex]";
  // What may change when an element gets the focus.
  const FOCUS_STYLES = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderTopColor",
                        "backgroundColor"];
  // Elements that may scroll sideways inside a page that does not.
  const MAY_SCROLL = "pre, .fragment, .terminal, .wide, figure, table, .memproto, .directory, center, " +
      ".center, #nav-tree";

  const visible = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true}) &&
      element.getClientRects().length > 0;

  // Returns "a.card" or "#MSearchField", with the beginning of the text.
  function name(element) {
    const kind = element.id ? `#${element.id}`
        : [element.localName, ...element.classList].join(".");
    return `${kind} "${element.textContent.trim().replace(/\s+/g, " ").slice(0, 30)}"`;
  }

  function openAll() {
    for (const details of document.querySelectorAll("details")) details.open = true;
  }

  // Returns the innermost element that reaches as far to the right as the contents of `element`.
  function widest(element) {
    const right = (inner) => inner.closest(MAY_SCROLL) === inner || !inner.closest(MAY_SCROLL)
        ? inner.getBoundingClientRect().right : 0;
    return [...element.querySelectorAll("*")].reduce(
        (best, inner) => right(inner) >= right(best) ? inner : best, element.firstElementChild ?? element);
  }

  function sideways() {
    const faults = [];
    const width = document.documentElement.clientWidth;
    for (const element of document.querySelectorAll("html, body *")) {
      if (element.scrollWidth <= element.clientWidth + 1 || element.closest(MAY_SCROLL)) continue;
      const flow = getComputedStyle(element).overflowX;
      const isRoot = element === document.documentElement;
      if (flow === "auto" || flow === "scroll" || (isRoot && element.scrollWidth > width + 1))
        faults.push(`scrolls sideways: ${name(element)}, ${element.scrollWidth} px wide, by ${
            name(widest(element))}`);
    }
    return faults;
  }

  function images() {
    const faults = [];
    for (const image of document.images) {
      if (!image.hasAttribute("alt")) faults.push(`no alternative text: ${image.src}`);
      if (image.complete && image.naturalWidth === 0) faults.push(`broken image: ${image.src}`);
    }
    for (const svg of document.querySelectorAll("svg"))
      if (visible(svg) && !svg.closest("[aria-hidden=true], a, button, [role=button]") &&
          !svg.matches("[aria-label], [aria-labelledby]") && !svg.querySelector("title"))
        faults.push(`no alternative text: ${name(svg)}`);
    return faults;
  }

  function headings() {
    const faults = [];
    if (!document.documentElement.lang) faults.push("html has no lang");
    if (!document.title.trim()) faults.push("no title");
    const level = (heading) => Number(heading.getAttribute("aria-level") ?? heading.localName[1]);
    const all = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6, [role=heading]")].filter(visible);
    const first = all.filter((heading) => level(heading) === 1).length;
    if (first !== 1) faults.push(`${first} headings of level 1`);
    all.forEach((heading, i) => {
      if (i > 0 && level(heading) > level(all[i - 1]) + 1)
        faults.push(`a level is left out before ${name(heading)}`);
    });
    return faults;
  }

  // Links, buttons, fields and frames need names; a page needs one main part.
  function names() {
    const faults = [];
    const isNamed = (element) => element.ariaLabel || element.title || element.labels?.length ||
        element.getAttribute("aria-labelledby") || element.textContent.trim() ||
        [...element.querySelectorAll("img")].some((image) => image.alt);
    for (const element of document.querySelectorAll(
        "a[href], button, [role=button], input, select, textarea, iframe, summary"))
      if (visible(element) && !isNamed(element)) faults.push(`no name: ${name(element)}`);
    const parts = document.querySelectorAll("main, [role=main]").length;
    if (parts !== 1) faults.push(`${parts} main parts`);
    return faults;
  }

  function ids() {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id).filter(Boolean);
    const repeated = ids.filter((id, i) => ids.indexOf(id) < i);
    return [...new Set(repeated)].map((id) => `two elements have the id ${id}`);
  }

  // Returns [red, green, blue, alpha] of a computed colour; red, green and blue from 0 to 255.
  function parsed(colour) {
    const numbers = colour.match(/[\d.]+/g).map(Number);
    const scale = colour.startsWith("color(srgb") ? 255 : 1;
    return [...numbers.slice(0, 3).map((n) => n * scale), numbers[3] ?? 1];
  }

  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);

  function isDark() {
    const schemes = getComputedStyle(document.documentElement).colorScheme.split(" ");
    return schemes.includes("dark") &&
        (!schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches);
  }

  // Remembers the results of a function of an element, until the colour scheme changes.
  function remembered(compute) {
    let results = new Map(), scheme = null;
    return (element) => {
      const now = isDark();
      if (now !== scheme) [results, scheme] = [new Map(), now];
      if (!results.has(element)) results.set(element, compute(element));
      return results.get(element);
    };
  }

  // The colour behind an element's text, or null if it is not a single colour.
  const background = remembered((element) => {
    if (!element) return isDark() ? [18, 18, 18, 1] : [255, 255, 255, 1];
    const style = getComputedStyle(element), colour = parsed(style.backgroundColor);
    if (style.backgroundImage !== "none") return null;
    if (colour[3] === 1) return colour;
    const below = background(element.parentElement);
    return below && over(colour, below);
  });

  const opacity = remembered((element) => element
      ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1);

  // Returns the fill of the last shape under the middle of a text in an SVG, or what is behind the SVG.
  function backgroundInSvg(text) {
    const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    let fill = background(text.ownerSVGElement.parentElement);
    for (const shape of text.ownerSVGElement.querySelectorAll("rect, circle")) {
      if (shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING) break;
      const around = shape.getBoundingClientRect(), style = getComputedStyle(shape);
      if (style.fill !== "none" && visible(shape) && x > around.left && x < around.right &&
          y > around.top && y < around.bottom && fill)
        fill = over(parsed(style.fill), fill);
    }
    return fill;
  }

  // WCAG 2.2, relative luminance and contrast ratio.
  function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map((value) => value / 255)
        .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  // WCAG 2.2, 1.4.3: 4.5 to 1; 3 to 1 for large text, from 24 px or from 18.66 px in bold.
  function contrast() {
    const faults = new Map(), seen = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (seen.has(element) || !walker.currentNode.data.trim()) continue;
      seen.add(element);
      if (element.closest("script, style, noscript, :disabled, [aria-disabled=true]") || !visible(element))
        continue;
      const style = getComputedStyle(element), inSvg = Boolean(element.ownerSVGElement);
      const behind = inSvg ? backgroundInSvg(element.closest("text") ?? element) : background(element);
      if (!behind) continue;
      const front = parsed(inSvg ? style.fill : style.color);
      front[3] *= opacity(element);
      const size = parseFloat(style.fontSize), isBold = Number(style.fontWeight) >= 700;
      const needed = size >= 24 || (isBold && size >= 18.66) ? 3 : 4.5;
      const found = ratio(over(front, behind), behind);
      const kind = [element.localName, ...element.classList].join(".");
      if (found < needed && !faults.has(kind))
        faults.set(kind, `contrast ${found.toFixed(2)}, not ${needed}: ${name(element)}`);
    }
    return [...faults.values()];
  }

  const looks = (element) => {
    const style = getComputedStyle(element);
    return FOCUS_STYLES.map((key) => style[key]).join();
  };

  // Focuses one element of each kind; each must change its looks. A click handler needs the keyboard too.
  function focus() {
    const faults = [], seen = new Set();
    for (const element of document.querySelectorAll(FOCUSABLE)) {
      const kind = [element.localName, element.className, element.parentElement.className].join();
      if (seen.has(kind) || element.tabIndex < 0 || element.disabled || !visible(element)) continue;
      seen.add(kind);
      document.activeElement.blur();
      const before = looks(element);
      element.focus({focusVisible: true, preventScroll: true});
      if (document.activeElement !== element) faults.push(`cannot be focused: ${name(element)}`);
      else if (looks(element) === before && element.localName !== "iframe")
        faults.push(`focus is not visible: ${name(element)}`);
    }
    document.activeElement.blur();
    for (const element of document.body.querySelectorAll("*"))
      if (element.onclick && element.tabIndex < 0 && !element.querySelector(FOCUSABLE) &&
          visible(element) && !element.closest("[aria-hidden=true]"))
        faults.push(`only a mouse reaches ${name(element)}`);
    return faults;
  }

  // What axe-core's rules for WCAG 2.1, levels A and AA, find: dequeuniversity.com/rules/axe. Its contrast
  // is left out, which takes most of its time: contrast() measures that, and pictures in SVG too.
  async function wcag() {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));  // site.js follows sizes
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
    const rules = {"color-contrast": {enabled: false}};
    const {violations} = await axe.run(document, {runOnly, rules, iframes: false, preload: false, resultTypes: ["violations"]});
    return violations.flatMap((rule) => rule.nodes.map(
        (node) => `${rule.id}: ${rule.help}: ${node.target} ${node.html.slice(0, 80)}`));
  }

  const links = () => [...document.querySelectorAll("a[href]")].map((link) => link.href);

  return {openAll, sideways, images, headings, names, ids, contrast, focus, wcag, links};
})();
