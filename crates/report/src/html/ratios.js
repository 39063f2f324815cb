// The table of ratios: another baseline, another order, fewer rows. Every figure is in the data as it is to be read.
const ratios = document.getElementById("ratio-data");
if (ratios) {
  const { stacks, columns, baseline } = JSON.parse(ratios.textContent);
  const table = document.getElementById("ratio-table");
  const rows = [...table.tBodies[0].rows];
  const choosers = document.getElementById("ratio-choosers");
  const chosen = document.getElementById("ratio-baseline");
  const filters = [...choosers.querySelectorAll("[data-filter]")];
  let order = { column: null, ascending: false };

  const text = (cell, ...lines) => {
    cell.replaceChildren(lines[0]);
    for (const line of lines.slice(1)) {
      const small = document.createElement("span");
      small.className = "interval";
      small.textContent = line;
      cell.append(small);
    }
  };

  const fill = (cell, ratio) => {
    cell.className = ratio.is === "compared" ? ratio.verdict : "";
    switch (ratio.is) {
      case "compared":
        return text(cell, ratio.ratio, ratio.interval, ratio.verdict.replace("-", " "));
      case "baseline":
        return text(cell, "1", "baseline");
      case "not-compared":
        return text(cell, "", ratio.why);
      default:
        return text(cell, "");
    }
  };

  const place = (row) => Number(row.dataset.place);
  const beside = (column) => columns[column].beside[Number(chosen.value)];
  const value = (column, row) => {
    const ratio = beside(column)[place(row)];
    return ratio.is === "compared" ? ratio.value : ratio.is === "baseline" ? 1 : null;
  };

  // Rows without a figure stay below, whichever way the others go.
  const compare = (one, other) => {
    if (order.column === null) return place(one) - place(other);
    const direction = order.ascending ? 1 : -1;
    if (order.column < 0) {
      return direction * stacks[place(one)].target.localeCompare(stacks[place(other)].target, "en");
    }
    const [a, b] = [value(order.column, one), value(order.column, other)];
    if (a === null || b === null) return (a === null) - (b === null) || place(one) - place(other);
    return direction * (a - b) || place(one) - place(other);
  };

  const show = () => {
    document.getElementById("ratio-caption").textContent = stacks[Number(chosen.value)].target;
    const passes = (row) => filters.every((filter) =>
      filter.value === "" || stacks[place(row)][filter.dataset.filter] === filter.value);
    let shown = 0;
    for (const row of rows) {
      columns.forEach((_, column) => fill(row.cells[column + 1], beside(column)[place(row)]));
      row.hidden = !passes(row);
      shown += row.hidden ? 0 : 1;
    }
    table.tBodies[0].append(...[...rows].sort(compare));
    document.getElementById("ratio-shown").textContent =
      shown === rows.length ? "" : `${shown} of ${rows.length} stacks are shown.`;
  };

  // A heading sorts by its column: best first, then the other way round, then as it was.
  [...table.tHead.rows[0].cells].forEach((heading, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const column = index - 1;
      const first = column < 0;
      if (order.column !== column) order = { column, ascending: first };
      else if (order.ascending === first) order = { column, ascending: !first };
      else order = { column: null, ascending: false };
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (order.column !== null) {
        heading.setAttribute("aria-sort", order.ascending ? "ascending" : "descending");
      }
      show();
    });
  });

  // A browser may keep what was chosen when the page is loaded again.
  choosers.reset();
  chosen.value = String(baseline);
  choosers.hidden = false;
  choosers.addEventListener("change", show);
  choosers.addEventListener("submit", (event) => event.preventDefault());
}
