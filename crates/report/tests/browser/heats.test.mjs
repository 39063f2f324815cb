// The page of a session of heats: its first screen, another order, another baseline, another CPU budget; and what it is
// without scripts, on a phone, and on paper.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { BOUND_MS, fileOf, launch, newWindow } from "./browser.mjs";
import * as checks from "./checks.mjs";

const PAGE = "heats-usual";

const names = (page, table) =>
  page.locator(`#${table} tbody tr`).evaluateAll((rows) => rows.map((row) => row.cells[0].innerText.trim()));
const heading = (page, table, name) => page.locator(`#${table} thead th`).filter({ hasText: name });
const keys = (page, table, column) =>
  page.locator(`#${table} tbody tr`).evaluateAll((rows, column) => rows.map((row) => row.cells[column].dataset.key), column);
const sorted = (values, sign) => {
  const known = values.filter((value) => value !== undefined).map(Number);
  return known.every((value, index) => index === 0 || sign * (value - known[index - 1]) >= 0);
};

describe("the page of heats", { timeout: BOUND_MS }, () => {
  let browser;
  let open;
  before(async () => {
    browser = await launch();
    ({ open } = await newWindow(browser));
  });
  after(() => browser?.close());

  const inPage = (name, body, { page: file = PAGE, width = 1280, scheme = "light" } = {}) =>
    test(name, async () => {
      const { page, complaints } = await open(fileOf(file), width, scheme);
      await body(page);
      assert.deepEqual(complaints, []);
    });

  inPage("has the line of trust, the first warnings and the matrix on its first screen", async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.equal(await page.locator("#matrix-1 tbody tr").count(), 18);
    const end = await page.locator("#matrix-1 tbody tr").nth(9).evaluate((row) => row.getBoundingClientRect().bottom);
    assert.ok(end <= 800, `ten of its rows end at ${end}`);
    assert.deepEqual(await checks.sideways(page), []);
    const wide = await page.locator("#matrix-1").evaluate((table) => table.scrollWidth - table.closest(".scroll").clientWidth);
    assert.ok(wide <= 0, `the matrix is ${wide} pixels too wide`);
  });

  inPage("sorts the matrix by the column that is chosen, both ways, by keyboard too", async (page) => {
    const first = await names(page, "matrix-1");
    assert.ok(sorted(await keys(page, "matrix-1", 1), -1));
    const users = heading(page, "matrix-1", "users").getByRole("button");
    await users.click();
    assert.ok(sorted(await keys(page, "matrix-1", 3), -1));
    await users.press("Enter");
    assert.ok(sorted(await keys(page, "matrix-1", 3), 1));
    assert.equal(await heading(page, "matrix-1", "users").getAttribute("aria-sort"), "ascending");
    assert.equal(await page.locator("#matrix-1 [aria-sort]").count(), 1);
    await heading(page, "matrix-1", "Stack").getByRole("button").click();
    assert.deepEqual(await names(page, "matrix-1"), [...first].sort((a, b) => a.localeCompare(b)));
    // A stack without a figure stays at the end, whichever way.
    const open = heading(page, "matrix-1", "json:c256").getByRole("button");
    for (const _ of [1, 2]) {
      await open.click();
      const order = await keys(page, "matrix-1", 4);
      const lost = order.indexOf(undefined);
      assert.ok(lost > 0 && order.slice(lost).every((key) => key === undefined), order.join());
    }
  });

  inPage("sorts a load's figures", async (page) => {
    await heading(page, "load-1-1-figures", "Peak memory").getByRole("button").click();
    assert.equal(await heading(page, "load-1-1-figures", "Peak memory").getAttribute("aria-sort"), "ascending");
    const column = await heading(page, "load-1-1-figures", "Peak memory").evaluate((head) => head.cellIndex);
    assert.ok(sorted(await keys(page, "load-1-1-figures", column), 1));
  });

  const drawn = (page, load) =>
    page.locator(`#load-${load} .board .ratios svg .row`).evaluateAll((rows) =>
      rows.map((row) => ({
        kind: [...row.classList].slice(2).join(" "),
        at: row.querySelector("circle").getAttribute("cx"),
        text: row.querySelector(".value").textContent,
        interval: row.querySelector(".interval").textContent,
      })),
    );

  inPage("draws every baseline as its data say, at all loads that have the stack", async (page) => {
    const data = JSON.parse(await page.locator("#load-2-1-layouts").textContent());
    const select = page.locator("#load-1 select");
    const options = await select.locator("option").allTextContents();
    assert.equal(options.length, 18);
    for (const [index, name] of options.entries()) {
      await select.selectOption({ index });
      const place = (await page.locator("#load-2 select option").allTextContents()).indexOf(name);
      const shown = await drawn(page, 2);
      const { ticks, rows } = data[place];
      rows.forEach(([places, kind, text, interval], row) => {
        assert.deepEqual(shown[row], { kind, at: `${places?.[0] ?? 0}%`, text, interval }, `${name}, row ${row}`);
      });
      const labels = await page.locator("#load-2 .ratios .tick:not(.none) text").allTextContents();
      assert.deepEqual(labels, ticks.map(([, label]) => label));
      assert.equal(shown.filter(({ kind }) => kind === "baseline").length, 1);
      assert.ok(await page.locator("#load-2 .ratios .row.baseline").isVisible(), name);
    }
    // The first layout is what stands there before.
    await select.selectOption({ index: 0 });
    assert.equal((await drawn(page, 1))[0].interval, "baseline");
  });

  inPage("keeps names and plots in one line, row by row", async (page) => {
    const places = await page.locator("#load-1 .board").evaluate((board) => {
      const middle = (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return (top + bottom) / 2;
      };
      const names = [...board.querySelectorAll(".ratios .names li")].map(middle);
      const panels = [...board.querySelectorAll("svg")].map((svg) =>
        [...svg.querySelectorAll(".row .value")].map(middle));
      return { names, panels };
    });
    assert.equal(places.panels.length, 4);
    for (const panel of places.panels) {
      panel.forEach((middle, row) => assert.ok(Math.abs(middle - places.names[row]) < 5, `row ${row}`));
    }
  });

  inPage("shows its warnings without a click, on paper too", async (page) => {
    for (const media of ["screen", "print"]) {
      await page.emulateMedia({ media });
      const warnings = page.locator(".warnings li");
      assert.ok((await warnings.count()) >= 3);
      for (const one of await warnings.all()) assert.ok(await one.isVisible(), media);
    }
  });

  inPage("has no column outside the page", async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const wide = await page.locator("table.figures").evaluateAll((tables) =>
      tables.map((table) => table.scrollWidth - table.closest(".scroll").clientWidth));
    assert.ok(wide.length > 0 && wide.every((width) => width <= 0), wide.join());
  });

  inPage("shows one CPU budget at a time, and yardsticks with each", async (page) => {
    const shown = () => page.locator(".matrix:not([hidden]) table").evaluateAll((all) => all.map((one) => one.id));
    assert.deepEqual(await page.locator("#budget option").allInnerTexts(), ["2", "1"]);
    assert.deepEqual(await shown(), ["matrix-2", "matrix-yardsticks"]);
    await page.locator("#budget").selectOption("1");
    assert.deepEqual(await shown(), ["matrix-1", "matrix-yardsticks"]);
  }, { page: "heats-budgets" });

  inPage("is a list for each load on a phone", async (page) => {
    assert.equal(await page.locator("#matrix-1").isVisible(), false);
    assert.equal(await page.locator(".lists ol").count(), 4);
    assert.equal(await page.locator(".lists ol").first().locator("li").count(), 18);
    assert.equal(await page.locator(".lists li").first().isVisible(), true);
    assert.deepEqual(await checks.sideways(page), []);
  }, { width: 360 });

  inPage("has its matrix on paper, and nothing to choose", async (page) => {
    await page.locator("#load-1 select").selectOption("rust-axum");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("#matrix-1").isVisible(), true);
    assert.equal(await page.locator("select").filter({ visible: true }).count(), 0);
    assert.equal(await page.locator("#load-2 .against").innerText(), "rust-axum");
    await page.emulateMedia({ media: null });
    assert.deepEqual(await checks.print(page), []);
  });

  test("needs no script to be read", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(fileOf("heats-budgets")).href);
    assert.equal(await page.locator(".matrix").filter({ visible: true }).count(), 3, "both budgets, and yardsticks");
    assert.equal(await page.locator("select").filter({ visible: true }).count(), 0);
    assert.ok((await page.locator(".ratios svg .row").count()) > 4);
    assert.equal(await page.locator("th button:enabled").count(), 0);
    await context.close();
  });
});
