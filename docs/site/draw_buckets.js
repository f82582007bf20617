// The buckets of one backward pass. The upper lane is backward, divided into the gradients that it
// computes, in the colours of their buckets; the lower lane has the buckets' all-reduces. A line joins
// the two: from the time at which a bucket is ready to the begin of its all-reduce. The chart below has
// the step for every size of the buckets. All times are in microseconds since the end of forward.

figures.draw.buckets = (figure, data) => {
  const {make, choice, among, slider, svg, words} = figures;
  const COLOURS = 4, LEFT = 2, RIGHT = 10, BLOCK = 30;  // px
  const BACKWARD = 24, LANE = 94, AXIS = 144, HEIGHT = 166;  // y of the timeline's parts, px
  const TOP = 30, BOTTOM = 106, CURVE = 130;  // of the chart below
  const chosen = {};
  let model;

  const milliseconds = (us) => (us / 1e3).toFixed(us < 1e5 ? 2 : 1);
  const size = (bytes) => bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / (1 << 20)).toFixed(1)} MiB`;

  // Returns the step with two limits on the chosen link: its buckets and times.
  function stepOf(first, cap) {
    const packing = model.packing_of[first][cap];
    const [allReduces, exposed, ...lane] = model.times[chosen.link][packing];
    const compute = model.forward + model.backward;
    let from = 0;
    const buckets = model.packings[packing].map((count, i) => {
      const gradients = model.gradients.slice(from, from += count);
      return {gradients, bytes: gradients.reduce((sum, [, bytes]) => sum + bytes, 0),
              ready: gradients.at(-1)[2], begin: lane[2 * i], end: lane[2 * i + 1]};
    });
    return {buckets, allReduces, exposed, overlapped: compute + exposed, apart: compute + allReduces};
  }

  // Returns the marks of an axis from 0: round numbers, few enough for the width.
  function marksOf(longest, width) {
    const rough = longest / Math.max(2, width / 90), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    return Array.from({length: Math.floor(longest / step) + 1}, (_, i) => i * step);
  }

  function drawTimeline(buckets) {
    const width = figure.clientWidth - 34;
    const longest = Math.max(model.backward, ...model.times[chosen.link].map((times) => times.at(-1)));
    const x = (time) => LEFT + (width - LEFT - RIGHT) * time / longest;
    const kind = (name, i) => `${name} c${i % COLOURS}${i === chosen.bucket ? " picked" : ""}`;
    const block = (name, i, y, from, to) => svg("rect", {
      class: kind(name, i), x: x(from), width: Math.max(1, x(to) - x(from) - 1), y, height: BLOCK, rx: 2,
      "data-bucket": i});

    function drawBucket({gradients, bytes, ready, begin, end}, i) {
      for (const [name, , at] of gradients) {
        shapes.push(block("gradient", i, BACKWARD, before, at));
        shapes.at(-1).append(svg("title", {}, name));
        before = at;
      }
      const from = `${x(ready) - 1} ${BACKWARD + BLOCK}`, to = `${x(begin) + 1} ${LANE}`;
      const middle = (BACKWARD + BLOCK + LANE) / 2;
      shapes.push(svg("path", {class: kind("wire", i), d: `M${from}C${x(ready) - 1} ${middle} ${
          x(begin) + 1} ${middle} ${to}`}));
      shapes.push(block("lane", i, LANE, begin, end));
      Object.assign(shapes.at(-1).dataset, {bytes, ready, begin, end});
      if (x(end) - x(begin) < 9 * String(i).length + 8) return;
      shapes.push(words((x(begin) + x(end)) / 2, LANE + 20, "middle", String(i), "number"));
    }

    const over = x(model.backward), last = x(buckets.at(-1).end);
    const shapes = [svg("rect", {class: "exposed", x: over, width: Math.max(0, last - over),
                                 y: BACKWARD - 8, height: AXIS - BACKWARD + 8})];
    for (const time of marksOf(longest, width)) {
      shapes.push(svg("path", {class: "grid", d: `M${x(time)} ${BACKWARD - 4}V${AXIS}`}));
      shapes.push(words(x(time), AXIS + 18, time ? "middle" : "start", time ? time / 1e3 : "0 ms"));
    }
    let before = 0;
    buckets.forEach(drawBucket);
    shapes.push(svg("path", {class: "end", d: `M${over} ${BACKWARD - 8}V${AXIS}`}),
                words(LEFT, BACKWARD - 8, "start", "backward"),
                words(LEFT, LANE + BLOCK + 15, "start", "all-reduces"));
    if (last - over > 76) shapes.push(words((over + last) / 2, BACKWARD + 20, "middle", "not hidden"));
    timeline.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    timeline.setAttribute("width", width);
    timeline.setAttribute("aria-label", `Backward takes ${milliseconds(model.backward)} ms. ${
        buckets.map(({begin, end}, i) => `Bucket ${i}: ${milliseconds(begin)} to ${
            milliseconds(end)} ms`).join(", ")}`);
    timeline.replaceChildren(...shapes);
  }

  // The step over the cap: bold with overlap, thin without.
  function drawCurve() {
    const width = Math.min(440, figure.clientWidth - 34), left = 46, last = model.caps.length - 1;
    const steps = model.caps.map((_, cap) => stepOf(chosen.first, cap));
    const least = model.forward + model.backward, most = Math.max(...steps.map((step) => step.apart));
    const x = (i) => left + (width - left - RIGHT) * i / last;
    const y = (time) => TOP + (BOTTOM - TOP) * (most - time) / (most - least);
    const line = (kind, key) => svg("path", {class: kind, d: "M" + steps.map(
        (step, i) => `${x(i).toFixed(1)} ${y(step[key]).toFixed(1)}`).join("L")});
    const parts = width < 400 ? 2 : 3;  // as many as have room for their texts
    const marked = Array.from({length: parts + 1}, (_, i) => Math.round(last * i / parts));
    const anchor = (i) => i === 0 ? "start" : i === last ? "end" : "middle";
    curve.setAttribute("viewBox", `0 0 ${width} ${CURVE}`);
    curve.setAttribute("width", width);
    curve.setAttribute("aria-label", `Milliseconds of a step over the bucket cap: ${
        steps.map((step, i) => `${model.caps[i]}: ${milliseconds(step.overlapped)}`).join(", ")}`);
    curve.replaceChildren(
        ...[least, most].flatMap((time) => [
          svg("path", {class: "grid", d: `M${left} ${y(time)}H${width - RIGHT}`}),
          words(left - 6, y(time) + 5, "end", String(Math.round(time / 1e3)))]),
        ...marked.map((i) => words(x(i), BOTTOM + 20, anchor(i), model.caps[i])),
        words(LEFT, 12, "start", "a step, in ms, over the bucket cap"),
        line("other", "apart"), line("chosen", "overlapped"),
        svg("circle", {cx: x(chosen.cap), cy: y(steps[chosen.cap].overlapped), r: 5}));
  }

  function describe({buckets, allReduces, exposed, overlapped, apart}) {
    const hidden = Math.round(100 * (1 - exposed / allReduces));
    status.textContent = `${buckets.length} bucket${buckets.length > 1 ? "s" : ""}. Backward hides ${
        hidden} % of ${milliseconds(allReduces)} ms of all-reduces: a step takes ${
        milliseconds(overlapped)} ms, and without overlap ${milliseconds(apart)} ms.`;
    const {gradients, bytes, ready, begin, end} = buckets[chosen.bucket];
    const names = gradients.length === 1 ? gradients[0][0]
        : `${gradients.length} gradients, ${gradients[0][0]} to ${gradients.at(-1)[0]}`;
    const waits = begin > ready ? ` It waits ${milliseconds(begin - ready)} ms for the lane.` : "";
    detail.textContent = `Bucket ${chosen.bucket}: ${size(bytes)}, ${names}. Ready at ${
        milliseconds(ready)} ms; all-reduce from ${milliseconds(begin)} to ${
        milliseconds(end)} ms.${waits}`;
    const range = look.querySelector("input");
    range.max = buckets.length - 1;
    range.value = look.querySelector("output").textContent = chosen.bucket;
  }

  function show(change) {
    Object.assign(chosen, change);
    const step = stepOf(chosen.first, chosen.cap);
    chosen.bucket = Math.min(chosen.bucket, step.buckets.length - 1);
    describe(step);
    drawTimeline(step.buckets);
    drawCurve();
  }

  function choose(name) {
    model = data.find((one) => one.name === name);
    Object.assign(chosen, model.chosen, {bucket: 0});
    limits.replaceChildren(
        among("bucket cap", model.caps, chosen.cap, (cap) => show({cap})),
        among("first bucket", model.firsts, chosen.first, (first) => show({first})),
        among("links", model.links, chosen.link, (link) => show({link})));
    assumed.textContent = `${model.ranks} ranks; forward ${model.forward / 1e3} ms, backward ${
        model.backward / 1e3} ms, divided in proportion to multiply-adds. `;
    show({});
  }

  const timeline = svg("svg", {role: "img"}), curve = svg("svg", {role: "img"});
  timeline.addEventListener("click", (event) => {
    if ("bucket" in event.target.dataset) show({bucket: Number(event.target.dataset.bucket)});
  });
  const names = data.map((one) => one.name);
  const limits = make("div", {className: "controls"}), assumed = make("span");
  const status = make("p", {className: "status", role: "status"});
  const detail = make("p", {className: "detail"});
  const look = slider("look at bucket", 0, 0, 0, (bucket) => show({bucket}));
  figure.append(
      make("div", {className: "controls"}, choice("model", names, names[0], choose)), limits,
      make("div", {className: "stage"}, timeline), status,
      make("div", {className: "stage wraps"}, curve, make("div", {className: "side"}, look, detail)),
      make("p", {className: "legend"}, assumed, "Dashed line: the end of backward. With a cap of 0 ",
           "each gradient has a bucket of its own. Lower chart: bold with overlap, thin without."));
  choose(names[0]);
  addEventListener("resize", () => show({}));
};
