// The table of ratios: another baseline, another order, fewer rows. Every figure is in the data as it is to be read.
const ratios = document.getElementById("ratio-data");
if (ratios) {
  const { stacks, columns, baseline } = JSON.parse(ratios.textContent);
  const table = document.getElementById("ratio-table");
  const rows = [...table.tBodies[0].rows];
  const choosers = document.getElementById("ratio-choosers");
  const chosen = document.getElementById("ratio-baseline");
  const filters = [...choosers.querySelectorAll("[data-filter]")];
  const headings = [...table.tHead.rows[0].cells];
  const unsorted = { column: null, ascending: false };
  let order = unsorted;

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
      default:
        return text(cell, "", ratio.why);
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
      const [a, b] = [one, other].map((row) => stacks[place(row)].target);
      return direction * a.localeCompare(b, "en", { numeric: true });
    }
    const [a, b] = [value(order.column, one), value(order.column, other)];
    if (a === null || b === null) return (a === null) - (b === null) || place(one) - place(other);
    return direction * (a - b) || place(one) - place(other);
  };

  // What is shown, in words, also for those who hear the page.
  const inWords = (shown) => {
    const baseline = rows[Number(chosen.value)];
    const parts = [`${shown} of ${rows.length} stacks are shown`];
    if (order.column !== null) {
      const name = order.column < 0 ? "name" : columns[order.column].title;
      const [up, down] = order.column < 0 ? ["from A to Z", "from Z to A"] : ["worst first", "best first"];
      parts.push(`sorted by ${name}, ${order.ascending ? up : down}`);
    }
    if (baseline.hidden) parts.push(`the baseline, ${stacks[place(baseline)].target}, is not among them`);
    return `${parts.join("; ")}.`;
  };

  const show = () => {
    document.getElementById("ratio-caption").textContent = stacks[Number(chosen.value)].target;
    const passes = (row) => filters.every((filter) =>
      filter.value === "" || stacks[place(row)][filter.dataset.filter] === filter.value);
    for (const row of rows) {
      columns.forEach((_, column) => fill(row.cells[column + 1], beside(column)[place(row)]));
      row.hidden = !passes(row);
    }
    table.tBodies[0].append(...[...rows].sort(compare));
    for (const heading of headings) heading.removeAttribute("aria-sort");
    if (order.column !== null) {
      headings[order.column + 1].setAttribute("aria-sort", order.ascending ? "ascending" : "descending");
    }
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById("ratio-shown").textContent = inWords(shown);
  };

  // A heading sorts by its column: best first, then the other way round, then as it was.
  headings.forEach((heading, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const column = index - 1;
      const first = column < 0;
      if (order.column !== column) order = { column, ascending: first };
      else if (order.ascending === first) order = { column, ascending: !first };
      else order = unsorted;
      show();
    });
  });

  // All as it was at first: a browser may keep what was chosen when the page is loaded again.
  const reset = () => {
    choosers.reset();
    chosen.value = String(baseline);
    order = unsorted;
    show();
  };
  reset();
  choosers.hidden = false;
  choosers.addEventListener("change", show);
  choosers.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("ratio-reset").addEventListener("click", reset);
}
