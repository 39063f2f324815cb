// Draws every plot from the JSON beside it. Without scripts the tables still hold every figure.
for (const box of document.querySelectorAll(".plot")) {
  const { data, layout, config } = JSON.parse(document.getElementById(`${box.id}-data`).textContent);
  Plotly.newPlot(box, data, layout, config);
}
