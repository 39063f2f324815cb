// Another baseline: each layout has a place and words for everything in the column. Nothing is computed here.
{
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const percent = (element, places) => {
    for (const [name, place] of Object.entries(places)) element.setAttribute(name, `${place}%`);
  };
  const columns = all("th.drawn select").map((select) => {
    const head = select.closest("th");
    const layouts = JSON.parse(head.querySelector("script").textContent);
    const cells = all("td .beside", head.closest("table"));
    const show = () => {
      const { ticks, band: [left, one, right], rows } = layouts[select.selectedIndex];
      head.querySelector(".against").textContent = select.selectedOptions[0].text;
      all("svg text", head).forEach((text, index) => {
        const [at, label] = ticks[index] ?? [0, ""];
        percent(text, { x: at });
        text.textContent = label;
      });
      cells.forEach((cell, index) => {
        const [places, kind, ratio, interval] = rows[index];
        const [at, low, high] = places ?? [0, 0, 0];
        const [middle, line] = cell.querySelectorAll("line");
        cell.className = `beside ${kind}`;
        percent(cell.querySelector("rect"), { x: left, width: right - left });
        percent(middle, { x1: one, x2: one });
        percent(line, { x1: low, x2: high });
        percent(cell.querySelector("circle"), { cx: at });
        cell.querySelector("b").textContent = ratio;
        cell.querySelector(".soft").textContent = interval;
      });
    };
    return { select, show };
  });
  for (const { select } of columns) {
    select.addEventListener("change", () => {
      // The same stack everywhere, where it is.
      const name = select.selectedOptions[0].text;
      for (const column of columns) {
        const index = [...column.select.options].findIndex((option) => option.text === name);
        if (index >= 0) column.select.selectedIndex = index;
        column.show();
      }
    });
  }
  for (const chooser of all("th.drawn .choosers")) chooser.hidden = false;
  // On paper the name stands in the place of the choice.
  for (const name of all(".against")) name.classList.add("chosen");
  performance.mark("usable");
}
