// Each trial over its measurement, of the stack and at the load point that the reader chooses. It only makes the figure
// and lays it beside its box, as that of every other plot is; who draws those draws this one.
const seriesFrame = document.getElementById("series-frame");
if (seriesFrame) {
  const byId = (id) => document.getElementById(`series-${id}`);
  const [atPoint, ofStack, figures] = ["point", "stack", "figures"].map(byId);
  const { looks, unsteady, aside } = JSON.parse(seriesFrame.textContent);

  const sums = (values) => {
    let sum = 0;
    return values.map((value) => (sum += value));
  };
  const inText = (value, digits) => value.toLocaleString("en", digits);
  const figure = (value) =>
    value === 0 ? "0" : inText(value, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
  const fixed = (value, digits) => inText(value, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const seconds = (value) => String(Number(value.toFixed(2)));
  const from = (until) => until.map((_, index) => (index === 0 ? 0 : until[index - 1]));
  const named = (trial) => `block ${trial.block}`;

  // A trial's points in its own units: what was counted over an interval stands in its middle.
  const points = (trial) => {
    const ends = trial.rate.map((_, index) => (index + 1) * trial.interval);
    const samples = sums(trial.after).map((hundredths) => hundredths / 100);
    const rates = from(ends).map((start, index) => ({
      start,
      end: ends[index],
      at: (start + ends[index]) / 2,
      value: trial.rate[index],
      text: `${figure(trial.rate[index])} requests/s`,
    }));
    const sizes = sums(trial.memory.map((tenths) => tenths ?? 0));
    const usage = from(samples).map((start, index) => {
      const cores = trial.cores[index] / 100;
      const end = samples[index];
      const size = trial.memory[index] === null ? null : sizes[index] / 10;
      return { start, end, cores, size };
    });
    return {
      rates,
      usage,
      cores: usage.map(({ start, end, cores }) => ({
        start,
        end,
        at: (start + end) / 2,
        value: cores,
        text: `${fixed(cores, 2)} CPU cores`,
      })),
      memory: usage
        .filter(({ size }) => size !== null)
        .map(({ start, end, size }) => ({ start, end, at: end, value: size, text: `${fixed(size, 1)} MiB` })),
    };
  };

  const look = (trial, index) => {
    const { colour, dash } = looks[index % looks.length];
    if (trial.aside) return { colour: aside, dash, width: 1, symbol: "circle-open", size: 4 };
    if (trial.unsteady) return { colour: unsteady, dash, width: 2.5, symbol: "x", size: 7 };
    return { colour, dash, width: 1.5 };
  };

  const line = (trial, index, axis, values) => {
    const { colour, dash, width, symbol, size } = look(trial, index);
    return {
      type: "scatter",
      mode: symbol ? "lines+markers" : "lines",
      x: values.map(({ at }) => at),
      y: values.map(({ value }) => value),
      yaxis: axis,
      line: { color: colour, dash, width },
      marker: { symbol: symbol ?? "circle", size: size ?? 4, color: colour },
      hoverinfo: "text",
      text: values.map(({ start, end, text }) => `${named(trial)}, ${seconds(start)}–${seconds(end)} s: ${text}`),
    };
  };

  // What there is to say of a trial beside its line.
  const notes = (trial) => [trial.unsteady && trial.steadiness, trial.aside].filter(Boolean);

  const DASHES = { solid: "", dot: "2 3", dash: "6 4", longdash: "10 4", dashdot: "6 3 2 3", longdashdot: "10 3 2 3" };
  const drawn = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const legendOf = (trial, index) => {
    const { colour, dash, width, symbol } = look(trial, index);
    const sample = drawn("svg", { width: 30, height: 9, "aria-hidden": "true" });
    const stroke = { stroke: colour, "stroke-width": width, fill: "none" };
    sample.append(drawn("path", { ...stroke, d: "M0 4.5H30", "stroke-dasharray": DASHES[dash] }));
    if (symbol === "x") sample.append(drawn("path", { ...stroke, d: "M11.5 1l7 7m0-7l-7 7" }));
    if (symbol === "circle-open") sample.append(drawn("circle", { ...stroke, cx: 15, cy: 4.5, r: 2.5 }));
    const entry = document.createElement("span");
    entry.append(sample, ` ${[named(trial), ...notes(trial)].join(", ")}`);
    return entry;
  };

  // A cell is a text, or several of which the first is the figure.
  const row = (scope, cells) => {
    const row = document.createElement("tr");
    cells.forEach((texts, index) => {
      const isHeading = scope === "col" || index === 0;
      const cell = document.createElement(isHeading ? "th" : "td");
      if (isHeading) cell.scope = scope;
      if (index === 0) cell.className = "text";
      const [first, ...others] = [texts].flat();
      cell.textContent = first;
      for (const other of others) {
        const small = document.createElement("span");
        small.className = "interval";
        small.textContent = other;
        cell.append(small);
      }
      row.append(cell);
    });
    return row;
  };
  const tabulate = (table, caption, heading, rows) => {
    table.replaceChildren();
    table.createCaption().textContent = caption;
    table.createTHead().append(row("col", heading));
    table.createTBody().append(...rows.map((cells) => row("row", cells)));
  };

  const fill = () => {
    if (!figures.open) return;
    const { target, trials } = chosen();
    const all = trials.map(points);
    // Each interval that any trial has.
    const spans = new Map();
    all.forEach(({ rates }, trial) =>
      rates.forEach(({ start, end, value }) => {
        const span = `${seconds(start)}–${seconds(end)} s`;
        if (!spans.has(span)) spans.set(span, { start, cells: trials.map(() => "–") });
        spans.get(span).cells[trial] = figure(value);
      }));
    const inOrder = [...spans].sort(([, one], [, other]) => one.start - other.start);
    tabulate(byId("rates"), `Requests per second of ${target}`,
      ["Seconds", ...trials.map((trial) => [named(trial), ...notes(trial)])],
      inOrder.map(([span, { cells }]) => [span, ...cells]));
    const samples = all.flatMap(({ usage }, trial) => usage.map(({ start, end, cores, size }) =>
      [named(trials[trial]), `${seconds(start)}–${seconds(end)} s`, fixed(cores, 2), size === null ? "–" : `${fixed(size, 1)} MiB`]));
    tabulate(byId("usage"), `CPU and memory of ${target}`, ["Trial", "Seconds", "CPU cores used", "Memory (PSS)"], samples);
  };

  const stacks = () => JSON.parse(byId(`data-${atPoint.value}`).textContent).stacks;
  let known;
  const chosen = () => known[ofStack.selectedIndex];

  const sentence = ({ target, trials }) => {
    const blocks = (trials) => trials.map(({ block }) => block).join("; ");
    const found = trials.filter((trial) => trial.unsteady);
    const bare = trials.filter((trial) => trial.after.length === 0);
    const parts = [`${target}, ${atPoint.selectedOptions[0].textContent}: ${trials.length === 1 ? "1 trial" : `${trials.length} trials`}`];
    if (found.length > 0) parts.push(`Not steady: block ${blocks(found)}`);
    if (bare.length > 0) parts.push(`Without samples of CPU and memory, as in older records: block ${blocks(bare)}`);
    return `${parts.join(". ")}.`;
  };

  const show = () => {
    const stack = chosen();
    const lines = stack.trials.flatMap((trial, index) => {
      const { rates, cores, memory } = points(trial);
      const parts = [["y", rates], ["y2", cores], ["y3", memory]];
      return parts.filter(([, values]) => values.length > 0).map(([axis, values]) => line(trial, index, axis, values));
    });
    // The layout is read anew each time: the library writes into what it is given.
    const { layout, config } = JSON.parse(seriesFrame.textContent);
    byId("plot-data").textContent = JSON.stringify({ data: lines, layout, config });
    if (byId("plot").data) Plotly.react(byId("plot"), lines, layout, config);
    byId("legend").replaceChildren(...stack.trials.map(legendOf));
    byId("shown").textContent = sentence(stack);
    fill();
  };

  // Which stacks are worth a look.
  const option = ({ target, trials }) => {
    const found = trials.filter((trial) => trial.unsteady).length;
    return new Option(found === 0 ? target : `${target} (${found} not steady)`, target);
  };

  const goTo = () => {
    const before = ofStack.value;
    known = stacks();
    ofStack.replaceChildren(...known.map(option));
    ofStack.selectedIndex = Math.max(0, known.findIndex(({ target }) => target === before));
    show();
  };

  // A browser may keep what was chosen when the page is loaded again.
  byId("choosers").reset();
  goTo();
  for (const part of ["choosers", "figure", "figures"]) byId(part).hidden = false;
  atPoint.addEventListener("change", goTo);
  ofStack.addEventListener("change", show);
  figures.addEventListener("toggle", fill);
  byId("choosers").addEventListener("submit", (event) => event.preventDefault());
}
