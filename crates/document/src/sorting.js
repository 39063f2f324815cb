// Sorts the rows of a table by a column. A cell without a key goes to the end, whichever way.
{
  const sort = (head, order) => {
    const table = head.closest("table");
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const key = (row) => {
      const cell = row.cells[head.cellIndex];
      return head.cellIndex === 0 ? cell.textContent : cell.dataset.key;
    };
    const rows = [...table.tBodies[0].rows].sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return sign * (head.cellIndex === 0 ? a.localeCompare(b) : a - b);
    });
    table.tBodies[0].append(...rows);
  };
  for (const button of document.querySelectorAll("th > button")) {
    const head = button.parentElement;
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const other = now === "ascending" ? "descending" : "ascending";
      sort(head, now ? other : head.dataset.order);
    });
    button.disabled = false;
  }
}
