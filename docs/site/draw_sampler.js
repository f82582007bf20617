// DistributedSampler: which samples each rank gets. The positions of the epoch's order from the size
// of the dataset on are padding: samples that another rank, or this one, has too.

figures.draw.sampler = (figure, data) => {
  const {make, slider, tick} = figures;
  const chosen = {n: 10, ranks: 3, epoch: 0, shuffle: true, dropLast: false};
  const stage = make("div", {className: "stage"});
  const status = make("p", {className: "status", role: "status"});

  function show(change) {
    Object.assign(chosen, change);
    const {n, ranks, epoch, shuffle, dropLast} = chosen;
    const order = shuffle ? epoch : "in order";
    const lists = data.lists[`${n} ${ranks} ${order} ${dropLast ? "drop" : "pad"}`];
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
};
