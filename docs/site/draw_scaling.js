// The step of data-parallel training over the number of ranks: a line for each size of the buckets,
// the chosen one bold, and its numbers.

figures.draw.scaling = (figure, data) => {
  const {make, among, tick, svg, words} = figures;
  const chosen = {cap: 2, link: 1, overlap: true};
  const chart = svg("svg", {role: "img"}), numbers = make("table");
  const status = make("p", {className: "status", role: "status"});
  const milliseconds = (seconds) => (seconds * 1e3).toFixed(1);
  const rowsOf = (cap) => data.runs[`${data.links[chosen.link]} ${chosen.overlap}`].filter(
      (row) => row.bucket_cap_mb === data.caps[cap]);
  const HEIGHT = 240, LEFT = 48, BOTTOM = 34, RIGHT = 12;

  function draw() {
    const width = Math.min(430, figure.clientWidth - 34);
    const most = Math.ceil(Math.max(...data.caps.flatMap((_, cap) => rowsOf(cap)).map(
        (row) => row.step_seconds)) * 10) / 10;
    const last = data.ranks.length - 1;
    const x = (i) => LEFT + (width - LEFT - RIGHT) * i / last;
    const y = (seconds) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 12) * seconds / most;
    const line = (rows, kind) => svg("path", {class: kind, d: "M" + rows.map(
        (row, i) => `${x(i).toFixed(1)} ${y(row.step_seconds).toFixed(1)}`).join("L")});
    chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    chart.setAttribute("width", width);
    chart.setAttribute("aria-label", `Milliseconds of a step over the number of ranks: ${
        rowsOf(chosen.cap).map((row) => `${row.ranks}: ${milliseconds(row.step_seconds)}`).join(", ")}`);
    const marks = [0, most / 2, most];
    chart.replaceChildren(
        ...marks.map((at) => svg("path", {class: "grid", d: `M${LEFT} ${y(at)}H${width - RIGHT}`})),
        ...marks.map((at) => words(LEFT - 6, y(at) + 5, "end", String(Math.round(at * 1e3)))),
        ...data.ranks.map((ranks, i) => words(x(i), HEIGHT - BOTTOM + 18, "middle", String(ranks))),
        ...data.caps.map((_, cap) => line(rowsOf(cap), "other")), line(rowsOf(chosen.cap), "chosen"));
  }

  function show(change) {
    Object.assign(chosen, change);
    const rows = rowsOf(chosen.cap), cell = (text) => make("td", {}, text);
    numbers.replaceChildren(
        make("caption", {className: "said"}, "A step, by the number of ranks"),
        make("thead", {}, make("tr", {}, ...["ranks", "step", "not hidden", "efficiency"].map(
            (text) => make("th", {scope: "col"}, text)))),
        make("tbody", {}, ...rows.map((row) => make(
            "tr", {}, make("th", {scope: "row"}, String(row.ranks)),
            cell(milliseconds(row.step_seconds)), cell(milliseconds(row.exposed_seconds)),
            cell(`${(row.efficiency * 100).toFixed(1)} %`)))));
    status.textContent = `${data.model}: ${rows[0].buckets} buckets of up to ${data.caps[chosen.cap]
        } MiB, links of ${data.links[chosen.link]}, all-reduces by rings${
        chosen.overlap ? " during backward" : " after backward"}.`;
    draw();
  }

  figure.append(
      make("div", {className: "controls"},
           among("bucket cap", data.caps.map((cap) => `${cap} MiB`), chosen.cap, (cap) => show({cap})),
           among("links", data.links, chosen.link, (link) => show({link})),
           tick("overlap with backward", true, (overlap) => show({overlap}))),
      make("div", {className: "stage wraps"}, chart, numbers), status,
      make("p", {className: "legend"}, "Milliseconds over the number of ranks. Bold: the chosen size ",
           "of the buckets; thin: the others. Not hidden: the time that all-reduces take after ",
           "backward."));
  show({});
  addEventListener("resize", draw);
};
