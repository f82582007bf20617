// Makes the buttons of Doxygen and of its theme, which are plain elements with a click handler,
// buttons for the keyboard and for screen readers too, and lets the keyboard scroll wide code and tables.

(() => {
  const NAMES = {
    "doxygen-awesome-dark-mode-toggle": "Light or dark",
    "doxygen-awesome-fragment-copy-button": "Copy",
    "#nav-sync": "Link the list of pages with the page",
    ".dynheader[onclick]": "",  // the text is the name
    ".directory .levels span": "",
    ".directory .arrow[onclick]": "Open or close",
  };

  const SCROLLS = "pre, .fragment, .terminal, .wide, figure, table, tbody, .memproto, center, .center";

  function makeButton(element, name) {
    element.tabIndex = 0;
    element.role = "button";
    if (name) element.ariaLabel = name;
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      element.click();
    });
  }

  function makeButtons() {
    for (const [selector, name] of Object.entries(NAMES))
      for (const element of document.querySelectorAll(selector))
        if (element.role !== "button") makeButton(element, name);
    for (const icon of document.querySelectorAll(".directory [id^=img_]"))
      icon.ariaHidden = "true";  // does the same as the arrow before it
  }

  // The arrow keys scroll an element only if it can have the focus.
  const wide = new ResizeObserver((entries) => {
    for (const {target} of entries)
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  });

  // Some are made after the page has loaded.
  addEventListener("DOMContentLoaded", () => {
    makeButtons();
    for (const element of document.querySelectorAll(SCROLLS)) wide.observe(element);
    new MutationObserver(makeButtons).observe(document.body, {childList: true, subtree: true});
  });
})();
