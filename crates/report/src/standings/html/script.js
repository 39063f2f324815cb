// What a reader can change: the order of a table, the CPU budget, and the stack that all others are compared with. All
// words and places come from the page; nothing is computed here.
{
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Sorting. A cell without a key goes to the end, whichever way.
  const sort = (head, order) => {
    const table = head.closest("table");
    const body = table.tBodies[0];
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const key = (row) => row.cells[head.cellIndex].dataset.key;
    const rows = [...body.rows].sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return sign * (head.dataset.as === "text" ? a.localeCompare(b) : a - b);
    });
    body.append(...rows);
  };
  for (const button of all("th > button")) {
    const head = button.parentElement;
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const other = now === "ascending" ? "descending" : "ascending";
      sort(head, now ? other : head.dataset.first);
    });
    button.disabled = false;
  }

  // One CPU budget at a time.
  const budget = document.getElementById("budget");
  if (budget) {
    const show = () => {
      for (const matrix of all("[data-budget]")) matrix.hidden = matrix.dataset.budget !== budget.value;
    };
    budget.addEventListener("change", show);
    show();
  }

  // Another baseline: each layout has a place and words for everything in the plot.
  const percent = (element, places) => {
    for (const [name, place] of Object.entries(places)) element.setAttribute(name, `${place}%`);
  };
  const draw = (svg, { ticks, band: [left, right], rows }) => {
    percent(svg.querySelector(".band"), { x: left, width: right - left });
    all(".tick", svg).forEach((tick, index) => {
      const [at, label] = ticks[index] ?? [0, ""];
      tick.setAttribute("class", label === "" ? "tick none" : label === "1×" ? "tick one" : "tick");
      percent(tick.querySelector("line"), { x1: at, x2: at });
      percent(tick.querySelector("text"), { x: at });
      tick.querySelector("text").textContent = label;
    });
    all(".row", svg).forEach((row, index) => {
      const [places, kind, ratio, interval] = rows[index];
      const [at, low, high] = places ?? [0, 0, 0];
      row.setAttribute("class", `row ${row.classList[1]} ${kind}`);
      percent(row.querySelector("line"), { x1: low, x2: high });
      percent(row.querySelector("circle"), { cx: at });
      row.querySelector(".value").textContent = ratio;
      row.querySelector(".interval").textContent = interval;
    });
  };
  const boards = all("select[data-layouts]").map((select) => {
    const layouts = JSON.parse(document.getElementById(select.dataset.layouts).textContent);
    const panel = select.closest(".ratios");
    const show = () => {
      panel.querySelector(".against").textContent = select.selectedOptions[0].text;
      draw(panel.querySelector("svg"), layouts[select.selectedIndex]);
    };
    return { select, show };
  });
  for (const { select } of boards) {
    select.addEventListener("change", () => {
      // The same stack everywhere, where it is.
      const name = select.selectedOptions[0].text;
      for (const board of boards) {
        const index = [...board.select.options].findIndex((option) => option.text === name);
        if (index >= 0) board.select.selectedIndex = index;
        board.show();
      }
    });
  }
  for (const chooser of all(".choosers")) chooser.hidden = false;
  // On paper the name stands in the place of the choice.
  for (const name of all(".against")) name.classList.add("chosen");
  performance.mark("usable");
}
