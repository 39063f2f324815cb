// Draws each plot from the JSON beside it when the reader comes near it, and all of them for paper: a large session has
// hundreds. Without scripts the tables still hold every figure.
const draw = async (box) => {
  if (box.data) return;
  const { data, layout, config } = JSON.parse(document.getElementById(`${box.id}-data`).textContent);
  await Plotly.newPlot(box, data, layout, config);
  box.dispatchEvent(new Event("drawn"));
};
const near = new IntersectionObserver(
  (entries) => {
    const boxes = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
    boxes.forEach((box) => near.unobserve(box));
    Promise.all(boxes.map(draw)).then(() => performance.mark("usable"));
  },
  { rootMargin: "600px" },
);
const plotBoxes = [...document.querySelectorAll(".plot")];
plotBoxes.forEach((box) => near.observe(box));
window.addEventListener("beforeprint", () => plotBoxes.forEach(draw));
if (plotBoxes.length === 0) performance.mark("usable");
