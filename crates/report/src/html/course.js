// The course of the session: one stack among many is brought out by choosing it, or by a click on one of its trials.
const stackChooser = document.getElementById("course-stack");
if (stackChooser) {
  const boxes = [...document.querySelectorAll("#course .plot")];
  const RING = "#c9741a";

  // The chosen stack's trials, whatever became of them, in their order.
  const trialsOf = (traces, stack) => {
    const places = traces.flatMap(({ customdata = [], x, y }) =>
      customdata.flatMap((other, index) => (other === stack ? [[x[index], y[index]]] : [])));
    return places.sort(([one], [other]) => one - other);
  };

  const bringOut = (box) => {
    if (!box.data) return;
    const traces = box.data.filter(({ meta }) => meta !== "brought-out");
    const stack = stackChooser.value === "" ? null : Number(stackChooser.value);
    const places = stack === null ? [] : trialsOf(traces, stack);
    const ring = {
      meta: "brought-out",
      x: places.map(([place]) => place),
      y: places.map(([, height]) => height),
      mode: "lines+markers",
      line: { color: RING, width: 1.5 },
      marker: { symbol: "circle-open", size: 13, color: RING, line: { width: 2 } },
      cliponaxis: false,
      hoverinfo: "skip",
    };
    const others = traces.map((trace) => ({ ...trace, opacity: places.length === 0 ? 1 : 0.3 }));
    Plotly.react(box, places.length === 0 ? others : [...others, ring], box.layout, box.config);
  };

  for (const box of boxes) {
    box.addEventListener("drawn", () => {
      box.on("plotly_click", ({ points: [point] }) => {
        if (point.customdata === undefined) return;
        stackChooser.value = String(point.customdata);
        boxes.forEach(bringOut);
      });
      if (stackChooser.value !== "") bringOut(box);
    });
  }
  const choosers = document.getElementById("course-choosers");
  choosers.reset();
  choosers.hidden = false;
  choosers.addEventListener("change", () => boxes.forEach(bringOut));
  choosers.addEventListener("submit", (event) => event.preventDefault());
}
