// What the figures that move share. Each replaces an element <div class="player" data-figure="NAME">:
// draw_NAME.js has the function figures.draw.NAME, which draws it. Its numbers, figure_data.NAME, are
// results of libmini's programs, which docs/site/figures.py runs when the site is built. Without scripts
// the pages show the still pictures.

const figures = (() => {
  // Returns an element: make("td", {className: "done"}, "text", child, ...).
  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // Returns a labelled choice. `change` is called with the new value.
  function choice(label, values, value, change) {
    const select = make("select", {},
                        ...values.map((text) => make("option", {value: text}, String(text))));
    select.value = value;
    select.addEventListener("change", () => change(select.value));
    return make("label", {}, `${label} `, select);
  }

  function slider(label, low, high, value, change) {
    const shown = make("output", {}, String(value));
    const range = make("input", {type: "range", min: low, max: high, value});
    range.addEventListener("input", () => {
      shown.textContent = range.value;
      change(Number(range.value));
    });
    return make("label", {}, `${label} `, range, " ", shown);
  }

  // Returns a slider over the values of a list. `change` is called with the new value's index.
  function among(label, values, index, change) {
    const made = slider(label, 0, values.length - 1, index, (i) => {
      name(i);
      change(i);
    });
    const name = (i) => {
      made.querySelector("output").textContent = values[i];
      made.querySelector("input").ariaValueText = values[i];
    };
    name(index);
    return made;
  }

  function tick(label, isOn, change) {
    const box = make("input", {type: "checkbox", checked: isOn});
    box.addEventListener("change", () => change(box.checked));
    return make("label", {}, box, ` ${label}`);
  }

  function button(text, click) {
    const made = make("button", {type: "button"}, text);
    made.addEventListener("click", click);
    return made;
  }

  function svg(name, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  // Returns a text of an SVG. `anchor` is "start", "middle" or "end".
  const words = (x, y, anchor, text, kind = "") => svg(
      "text", {x, y, "text-anchor": anchor, class: kind}, text);

  const listed = (words) => words.length < 2 ? words.join("")
      : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

  const draw = {};  // by the figure's name; the functions take the element and its numbers
  addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll(".player")) {
      const name = figure.dataset.figure;
      if (globalThis.figure_data?.[name]) draw[name](figure, figure_data[name]);
    }
  });
  return {make, choice, slider, among, tick, button, svg, words, listed, draw};
})();
