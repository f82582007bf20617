// Makes the buttons of Doxygen and of its theme, which are plain elements with a click handler,
// buttons for the keyboard and for screen readers too.

(() => {
  const NAMES = {
    "doxygen-awesome-dark-mode-toggle": "Light or dark",
    "doxygen-awesome-fragment-copy-button": "Copy",
    "#nav-sync": "Link the list of pages with the page",
    ".dynheader[onclick]": "",  // the text is the name
    ".directory .levels span": "",
    ".directory .arrow[onclick]": "Open or close",
  };

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

  // Some are made after the page has loaded.
  addEventListener("DOMContentLoaded", () => {
    makeButtons();
    new MutationObserver(makeButtons).observe(document.body, {childList: true, subtree: true});
  });
})();
