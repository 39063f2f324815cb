// The page of a session of heats: its first screen, another order, another baseline; and what it is
// without scripts, on a phone, and on paper.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { BOUND_MS, fileOf, launch, newWindow } from "./browser.mjs";
import * as checks from "./checks.mjs";

const PAGE = "heats-usual";

// Sections in the page's order: every stack at every load, then the loads. Each load's first table is the ranking.
const table = (page, section, number = 0) => page.locator(`#section-${section} table`).nth(number);
const names = (table) => table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.cells[0].innerText.trim()));
const heading = (table, name) => table.locator("thead th").filter({ hasText: name });
const keys = (table, column) =>
  table.locator("tbody tr").evaluateAll((rows, column) => rows.map((row) => row.cells[column].dataset.key), column);
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

  inPage("has the answers and the warnings on its first screen", async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const end = await page.locator(".alerts").evaluate((warnings) => warnings.getBoundingClientRect().bottom);
    assert.ok(end <= 800, `the warnings end at ${end}`);
    assert.deepEqual(await checks.sideways(page), []);
  });

  inPage("sorts a table by the column that is chosen, both ways, by keyboard too", async (page) => {
    const overview = table(page, 1);
    const first = await names(overview);
    assert.equal(first.length, 18);
    const users = heading(overview, "users").getByRole("button");
    await users.click();
    assert.ok(sorted(await keys(overview, 3), -1));
    await users.press("Enter");
    assert.ok(sorted(await keys(overview, 3), 1));
    assert.equal(await heading(overview, "users").getAttribute("aria-sort"), "ascending");
    assert.equal(await overview.locator("[aria-sort]").count(), 1);
    await heading(overview, "stack").getByRole("button").click();
    assert.deepEqual(await names(overview), [...first].sort((a, b) => a.localeCompare(b)));
    // A stack without a figure stays at the end, whichever way.
    const json = table(page, 3);
    const atRate = heading(json, "p99 at 12,000/s").getByRole("button");
    for (const _ of [1, 2]) {
      await atRate.click();
      const order = await keys(json, 6);
      const lost = order.indexOf(undefined);
      assert.ok(lost > 0 && order.slice(lost).every((key) => key === undefined), order.join());
    }
  });

  const drawn = (page, section) =>
    page.locator(`#section-${section} td .beside`).evaluateAll((cells) =>
      cells.map((cell) => ({
        kind: cell.className.slice("beside ".length),
        at: cell.querySelector("circle").getAttribute("cx"),
        text: cell.querySelector("b").textContent,
        interval: cell.querySelector(".soft").textContent,
      })),
    );

  inPage("draws every baseline as its data say, at all loads that have the stack", async (page) => {
    const data = JSON.parse(await page.locator("#section-3 script").textContent());
    const select = page.locator("#section-2 select");
    const options = await select.locator("option").allTextContents();
    assert.equal(options.length, 18);
    for (const [index, name] of options.entries()) {
      await select.selectOption({ index });
      const place = (await page.locator("#section-3 select option").allTextContents()).indexOf(name);
      const shown = await drawn(page, 3);
      const { ticks, rows } = data[place];
      rows.forEach(([places, kind, text, interval], row) => {
        assert.deepEqual(shown[row], { kind, at: `${places?.[0] ?? 0}%`, text, interval }, `${name}, row ${row}`);
      });
      const labels = await page.locator("#section-3 th .beside text").allTextContents();
      assert.deepEqual(labels.filter((label) => label !== ""), ticks.map(([, label]) => label));
      assert.equal(shown.filter(({ kind }) => kind === "baseline").length, 1);
    }
    // The first layout is what stands there before, also after the rows were sorted.
    await heading(table(page, 2), "stack").getByRole("button").click();
    await select.selectOption({ index: 0 });
    const first = (await names(table(page, 2))).indexOf(options[0]);
    assert.equal((await drawn(page, 2))[first].interval, "baseline");
  });

  inPage("shows its warnings without a click, on paper too", async (page) => {
    for (const media of ["screen", "print"]) {
      await page.emulateMedia({ media });
      const warnings = page.locator(".alerts li");
      assert.ok((await warnings.count()) >= 3);
      for (const one of await warnings.all()) assert.ok(await one.isVisible(), media);
    }
  });

  inPage("has no column outside the page", async (page) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const wide = await page.locator(".scroll table").evaluateAll((tables) =>
      tables.map((table) => table.scrollWidth - table.closest(".scroll").clientWidth));
    assert.ok(wide.length > 0 && wide.every((width) => width <= 0), wide.join());
  });

  inPage("has nothing to choose on paper", async (page) => {
    await page.locator("#section-2 select").selectOption("rust-axum");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("select").filter({ visible: true }).count(), 0);
    assert.equal(await page.locator("#section-3 .against").innerText(), "rust-axum");
    await page.emulateMedia({ media: null });
    assert.deepEqual(await checks.print(page), []);
  });

  test("needs no script to be read", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(fileOf("heats-budgets")).href);
    assert.equal(await page.locator("select").filter({ visible: true }).count(), 0);
    assert.ok((await page.locator("td .beside circle").count()) > 4);
    assert.equal(await page.locator("th button:enabled").count(), 0);
    await context.close();
  });
});
