// Draws a plot when the reader comes near it, from the JSON beside it. Without scripts the tables still hold every
// figure.

// plotly's script is megabytes, which take a browser half a second and more to run: it runs when the first plot needs
// it. It comes from a file beside the page, or stands in the page, packed. A browser unpacks it beside its other work.
const plotlyScript = document.getElementById("plotly");
let plotlyText;
let isPlotlyKnown = false;

// Until plotly's script is there, or known to be missing.
const plotlyCame = (async () => {
  if (plotlyScript?.type === "application/gzip") plotlyText = await unpacked(plotlyScript).text();
  else if (document.readyState !== "complete") {
    await new Promise((loaded) => addEventListener("load", loaded, { once: true }));
  }
})().catch(() => {}).then(() => { isPlotlyKnown = true; });

const hasPlotly = () => {
  if (!window.Plotly && plotlyText) {
    const script = document.createElement("script");
    script.textContent = plotlyText;
    document.head.append(script);
  }
  return Boolean(window.Plotly);
};

const plotOf = (box) => JSON.parse(document.getElementById(`${box.id}-data`).textContent);

// Draws a plot unless it is there already.
const draw = (box) => {
  if (box.querySelector(".main-svg")) return;
  if (hasPlotly()) {
    const { data, layout, config } = plotOf(box);
    Plotly.newPlot(box, data, layout, config).then(() => box.dispatchEvent(new Event("drawn")));
  } else {
    const file = decodeURI(plotlyScript?.src?.split("/").pop() ?? "");
    const needs = file ? `the file ${file} beside the page` : "a newer browser";
    box.removeAttribute("role");
    box.textContent = `This plot needs ${needs}. The tables hold its figures.`;
  }
};

{
  const boxes = [...document.querySelectorAll(".plot")];
  const near = new Set();
  let isDrawing = false;
  let isUsable = false;

  // "usable": what the reader sees first is there, its plots included, nothing more is done until the reader moves, and
  // the frame that shows it all is out.
  const rest = () => {
    isDrawing = false;
    if (isUsable) return;
    isUsable = true;
    requestAnimationFrame(() => setTimeout(() => performance.mark("usable")));
  };
  // One plot at a time, so that the page answers in between.
  const next = () => {
    const [box] = near;
    if (!box) return rest();
    near.delete(box);
    watcher.unobserve(box);
    draw(box);
    setTimeout(next);
  };
  const begin = () => {
    if (isDrawing) return;
    isDrawing = true;
    next();
  };
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) near.add(target);
      else near.delete(target);
    }
    // Where no plot is near, the page is usable without it.
    if (near.size === 0 || hasPlotly()) begin();
    else plotlyCame.then(begin);
  }, { rootMargin: "100% 0px" });
  boxes.forEach((box) => watcher.observe(box));
  if (boxes.length === 0) rest();
  // On paper there is no coming near.
  addEventListener("beforeprint", () => {
    if (hasPlotly() || isPlotlyKnown) boxes.forEach(draw);
  });
}
