// An all-reduce, step by step. Each rank has a row and each element of its buffer a cell, whose dots
// show the ranks that are in the sum so far: bit r of data-sum is rank r.

figures.draw.collectives = (figure, data) => {
  const {make, choice, button, svg, listed} = figures;
  let run, step, timer = 0;
  const ROW = 44, WIDTH = 56;  // px, of a row and of the arrows, as in site.css
  const sums = (at) => {  // by rank, by element
    const all = Array.from({length: run.ranks}, (_, rank) => Array(run.elements).fill(1 << rank));
    for (const message of run.messages)
      if (message.step <= at)
        message.sums.forEach((sum, i) => all[message.to][message.first + i] = sum);
    return all;
  };
  const ranksIn = (sum) => [...Array(run.ranks).keys()].filter((rank) => sum >> rank & 1);

  function cell(sum, isNew) {
    const isDone = sum === (1 << run.ranks) - 1;
    const dots = Array.from({length: run.ranks}, (_, rank) => make(
        "i", {className: sum >> rank & 1 ? "on" : ""}));
    const made = make("td", {className: [isDone && "done", isNew && "new"].filter(Boolean).join(" ")},
                      make("span", {className: "dots", ariaHidden: "true"}, ...dots),
                      make("span", {className: "said"}, isDone ? "all ranks" : listed(ranksIn(sum))));
    made.dataset.sum = sum;
    return made;
  }

  function arrow(message) {
    const y = (rank) => (rank + 0.5) * ROW, from = y(message.from), to = y(message.to);
    const bend = 14 + 6 * Math.abs(message.to - message.from), tip = Math.sign(to - from) * 6;
    return svg("path", {class: message.combines ? "adds" : "copies", d:
        `M2 ${from} C${bend} ${from} ${bend} ${to} 8 ${to} m6 -4 l-6 4 l6 4`});
  }

  function show(to) {
    step = Math.max(0, Math.min(run.steps, to));
    const now = run.messages.filter((message) => message.step === step);
    const isNew = (rank, i) => now.some((message) => message.to === rank && i >= message.first &&
        i < message.first + message.sums.length);
    table.replaceChildren(
        make("caption", {className: "said"}, "Whose numbers each rank has summed"),
        make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "element"), ...sums(0)[0].map(
            (_, i) => make("th", {scope: "col"}, String(i))))),
        make("tbody", {}, ...sums(step).map((row, rank) => make("tr", {}, make(
            "th", {scope: "row"}, `rank ${rank}`), ...row.map((sum, i) => cell(sum, isNew(rank, i)))))));
    arrows.setAttribute("viewBox", `0 0 ${WIDTH} ${run.ranks * ROW}`);
    arrows.style.height = `${run.ranks * ROW}px`;
    arrows.replaceChildren(...now.map(arrow));
    position.max = run.steps;
    position.value = step;
    position.ariaValueText = `step ${step} of ${run.steps}`;
    first.disabled = back.disabled = step === 0;
    next.disabled = step === run.steps;
    if (next.disabled) stop();
    const sent = now.map((m) => `${m.from} to ${m.to}`);
    const adds = now.filter((m) => m.combines).length;
    const does = adds === now.length ? "adds" : adds === 0 ? "copies" : "adds or copies";
    status.textContent = step === 0
        ? `Start. Each rank has its own numbers; ${run.messages.length} messages in ${
            run.steps} steps follow.`
        : `Step ${step} of ${run.steps}: rank ${sent.join(", ")}. The receiver ${does}.`;
    figure.dataset.step = step;
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }

  function choose(change) {
    stop();
    Object.assign(chosen, change);
    run = data.find((one) => one.algorithm === chosen.algorithm && one.ranks === Number(chosen.ranks));
    show(0);
  }

  const chosen = {algorithm: "ring", ranks: 4};
  const names = [...new Set(data.map((one) => one.algorithm))];
  const counts = [...new Set(data.map((one) => one.ranks))];
  const table = make("table"), arrows = svg("svg", {"aria-hidden": "true", width: WIDTH});
  const status = make("p", {className: "status", role: "status"});
  const position = make("input", {type: "range", min: 0, ariaLabel: "step"});
  position.addEventListener("input", () => show(Number(position.value)));
  const first = button("Start", () => show(0)), back = button("Back", () => show(step - 1));
  const next = button("Next", () => show(step + 1));
  const play = button("Play", () => {
    if (timer) return stop();
    if (step === run.steps) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => show(step + 1), 1200);
  });
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  figure.append(
      make("div", {className: "controls"},
           choice("algorithm", names, chosen.algorithm, (algorithm) => choose({algorithm})),
           choice("ranks", counts, chosen.ranks, (ranks) => choose({ranks}))),
      make("div", {className: "stage"}, table, arrows),
      make("div", {className: "controls"}, first, back, next, ...isStill ? [] : [play], position),
      status,
      make("p", {className: "legend"}, make("span", {className: "adds"}, "orange"),
           ": the receiver adds; ", make("span", {className: "copies"}, "green"),
           ": it copies. A dot for each rank whose number is in the sum; a green cell has them all."));
  choose({});
};
