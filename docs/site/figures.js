// The figures that move: each replaces an element <div class="player" data-figure="NAME">. The numbers
// are results of libmini's programs, which docs/site/figures.py runs when the site is built:
// figure_data.NAME. Without scripts the pages show the still pictures.

(() => {
  // Returns an element: make("td", {className: "done"}, "text", child, ...).
  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // Returns a labelled choice. `change` is called with the new value.
  function choice(label, values, value, change) {
    const select = make("select", {}, ...values.map((text) => make("option", {value: text}, String(text))));
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

  function svg(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  const listed = (words) => words.length < 2 ? words.join("")
      : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

  // An all-reduce, step by step. Each rank has a row and each element of its buffer a cell, whose dots
  // show the ranks that are in the sum so far: bit r of data-sum is rank r.
  function collectives(figure, data) {
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
        make("div", {className: "controls"}, first, back, next, ...isStill ? [] : [play], position), status,
        make("p", {className: "legend"}, make("span", {className: "adds"}, "orange"),
             ": the receiver adds; ", make("span", {className: "copies"}, "green"),
             ": it copies. A dot for each rank whose number is in the sum; a green cell has all of them."));
    choose({});
  }

  // DistributedSampler: which samples each rank gets. The positions of the epoch's order from the size
  // of the dataset on are padding: samples that another rank, or this one, has too.
  function sampler(figure, data) {
    const chosen = {n: 10, ranks: 3, epoch: 0, shuffle: true, dropLast: false};
    const stage = make("div", {className: "stage"});
    const status = make("p", {className: "status", role: "status"});

    function show(change) {
      Object.assign(chosen, change);
      const {n, ranks, epoch, shuffle, dropLast} = chosen;
      const lists = data.lists[`${n} ${ranks} ${shuffle ? epoch : "in order"} ${dropLast ? "drop" : "pad"}`];
      const length = lists[0].length, isPadding = (rank, i) => rank + i * ranks >= n;
      let padded = 0;
      const row = (list, rank) => make("tr", {}, make("th", {scope: "row"}, `rank ${rank}`), ...list.map(
          (sample, i) => {
            padded += isPadding(rank, i);
            const cell = make("td", {className: isPadding(rank, i) ? "padding" : ""}, String(sample));
            if (isPadding(rank, i)) cell.append(make("span", {className: "said"}, " padding"));
            cell.dataset.sample = sample;
            return cell;
          }));
      stage.replaceChildren(make("table", {},
          make("caption", {className: "said"}, "The samples of each rank"),
          make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "position"), ...lists[0].map(
              (_, i) => make("th", {scope: "col"}, String(i))))),
          make("tbody", {}, ...lists.map(row))));
      const dropped = Math.max(0, n - length * ranks);
      status.textContent = `${length} samples per rank, ${length * ranks} in all: ${padded} padding, ${
          dropped} of ${n} dropped.`;
      epochs.hidden = !shuffle;
    }

    const epochs = slider("epoch (set_epoch)", 0, data.epochs - 1, 0, (epoch) => show({epoch}));
    figure.append(
        make("div", {className: "controls"},
             slider("samples", 1, data.most_samples, chosen.n, (n) => show({n})),
             slider("ranks", data.least_ranks, data.most_ranks, chosen.ranks, (ranks) => show({ranks})),
             epochs,
             tick("shuffle", true, (shuffle) => show({shuffle})),
             tick("drop_last", false, (dropLast) => show({dropLast}))),
        stage, status, make("p", {className: "legend"}, "Dashed: padding, a sample that another position ",
                            "of this epoch has too."));
    show({});
  }

  // The step of data-parallel training over the number of ranks: a line for each size of the buckets,
  // the chosen one bold, and its numbers.
  function scaling(figure, data) {
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
      const text = (x, y, anchor, words) => {
        const made = svg("text", {x, y, "text-anchor": anchor});
        made.textContent = words;
        return made;
      };
      const line = (rows, kind) => svg("path", {class: kind, d: "M" + rows.map(
          (row, i) => `${x(i).toFixed(1)} ${y(row.step_seconds).toFixed(1)}`).join("L")});
      chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
      chart.setAttribute("width", width);
      chart.setAttribute("aria-label", `Milliseconds of a step over the number of ranks: ${
          rowsOf(chosen.cap).map((row) => `${row.ranks}: ${milliseconds(row.step_seconds)}`).join(", ")}`);
      const marks = [0, most / 2, most];
      chart.replaceChildren(
          ...marks.map((at) => svg("path", {class: "grid", d: `M${LEFT} ${y(at)}H${width - RIGHT}`})),
          ...marks.map((at) => text(LEFT - 6, y(at) + 5, "end", String(Math.round(at * 1e3)))),
          ...data.ranks.map((ranks, i) => text(x(i), HEIGHT - BOTTOM + 18, "middle", String(ranks))),
          ...data.caps.map((_, cap) => line(rowsOf(cap), "other")), line(rowsOf(chosen.cap), "chosen"));
    }

    function show(change) {
      Object.assign(chosen, change);
      const rows = rowsOf(chosen.cap), cell = (text) => make("td", {}, text);
      numbers.replaceChildren(
          make("caption", {className: "said"}, "A step, by the number of ranks"),
          make("thead", {}, make("tr", {}, ...["ranks", "step", "not hidden", "efficiency"].map(
              (text) => make("th", {scope: "col"}, text)))),
          make("tbody", {}, ...rows.map((row) => make("tr", {}, make("th", {scope: "row"}, String(row.ranks)),
              cell(milliseconds(row.step_seconds)), cell(milliseconds(row.exposed_seconds)),
              cell(`${(row.efficiency * 100).toFixed(1)} %`)))));
      status.textContent = `${data.model}: ${rows[0].buckets} buckets of up to ${data.caps[chosen.cap]
          } MiB, links of ${data.links[chosen.link]}, all-reduces by rings${
          chosen.overlap ? " during backward" : " after backward"}.`;
      draw();
    }

    // A slider over the values of a list.
    function among(label, values, value, change) {
      const made = slider(label, 0, values.length - 1, value, (i) => {
        name(i);
        change(i);
      });
      const name = (i) => {
        made.querySelector("output").textContent = values[i];
        made.querySelector("input").ariaValueText = values[i];
      };
      name(value);
      return made;
    }

    figure.append(
        make("div", {className: "controls"},
             among("bucket cap", data.caps.map((cap) => `${cap} MiB`), chosen.cap, (cap) => show({cap})),
             among("links", data.links, chosen.link, (link) => show({link})),
             tick("overlap with backward", true, (overlap) => show({overlap}))),
        make("div", {className: "stage wraps"}, chart, numbers), status,
        make("p", {className: "legend"}, "Milliseconds over the number of ranks. Bold: the chosen size of the ",
             "buckets; thin: the others. Not hidden: the time that all-reduces take after backward."));
    show({});
    addEventListener("resize", draw);
  }

  const KINDS = {collectives, sampler, scaling};
  addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll(".player")) {
      const name = figure.dataset.figure;
      if (globalThis.figure_data?.[name]) KINDS[name](figure, figure_data[name]);
    }
  });
})();
