// The table "Every stack beside one": another baseline, another order, fewer rows; and what it is without scripts, on
// paper, and to those who use no pointer.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, fileOf, launch, newWindow } from "./browser.mjs";
import * as checks from "./checks.mjs";

const PAGE = "to-choose-from";

// Everything that a reader sees of the table, from top to bottom; of each cell its lines.
const read = (page) =>
  page.evaluate(() => {
    const lines = (cell) => [...cell.childNodes].map((node) => node.textContent.trim()).filter((line) => line !== "");
    const [head] = document.querySelector("#ratio-table").tHead.rows;
    const rows = [...document.querySelector("#ratio-table").tBodies[0].rows];
    const shown = rows.filter((row) => row.checkVisibility());
    return {
      caption: document.querySelector("#ratio-table caption").innerText,
      sorted: [...head.cells].map((cell) => cell.getAttribute("aria-sort")),
      names: shown.map((row) => row.cells[0].innerText),
      cells: shown.map((row) => [...row.cells].slice(1).map(lines)),
      status: document.querySelector("[role=status]#ratio-shown").innerText,
    };
  });

const dataOf = async (page) => JSON.parse(await page.locator("#ratio-data").textContent());

const same = (cell) => {
  switch (cell.is) {
    case "compared":
      return [cell.ratio, cell.interval, { faster: "faster", slower: "slower", "no-difference": "no difference" }[cell.verdict]];
    case "baseline":
      return ["1", "baseline"];
    default:
      return [cell.why];
  }
};

// What the page's data say of the stacks at `places` beside `baseline`.
const expected = ({ columns }, baseline, places) =>
  places.map((place) => columns.map(({ beside }) => same(beside[baseline][place])));

const select = (page, name) => page.getByRole("combobox", { name, exact: true });
const choose = (page, filter, value) => page.locator(`select[data-filter=${filter}]`).selectOption({ value });
const heading = (page, index) => page.locator("#ratio-table thead th").nth(index).getByRole("button");

describe("the table of ratios", { timeout: BOUND_MS }, () => {
  let browser;
  let opened;
  before(async () => {
    browser = await launch();
    const { open } = await newWindow(browser);
    opened = await open(fileOf(PAGE), 1280, "light");
  });
  after(() => browser?.close());

  // Opened once: it is the plots that take their time.
  const inPage = (name, body) =>
    test(name, async () => {
      await opened.page.getByRole("button", { name: "Reset" }).click();
      await body(opened.page);
      assert.deepEqual(opened.complaints, []);
    });

  inPage("shows, beside each baseline, what the data say", async (page) => {
    const data = await dataOf(page);
    const all = data.stacks.map((_, place) => place);
    const first = await read(page);
    assert.deepEqual(first.cells, expected(data, data.baseline, all));
    assert.equal(first.status, "10 of 10 stacks are shown.");
    const shown = [];
    for (const [place, { target }] of data.stacks.entries()) {
      await select(page, "Baseline").selectOption({ label: target });
      const { caption, names, cells } = await read(page);
      assert.equal(caption, `How many times better than ${target}`);
      assert.deepEqual(names, data.stacks.map((stack) => stack.target));
      assert.deepEqual(cells, expected(data, place, all), target);
      shown.push(cells);
    }
    // The other way round, a ratio is its inverse, and the interval's ends change places. By what is to be read, which
    // has three decimals from 0.1 to 10 and three digits beyond.
    const off = (figure) => (figure >= 0.1 && figure < 10 ? 0.0005 / figure : 0.005);
    const inverse = (one, other) => Math.abs(one * other - 1) <= 1.01 * (off(one) + off(other));
    let pairs = 0;
    for (const one of all) {
      for (const other of all.slice(0, one)) {
        for (const column of data.columns.keys()) {
          const [there, back] = [shown[other][one][column], shown[one][other][column]];
          assert.equal(there.length, back.length, `${there} ${back}`);
          if (there.length !== 3) {
            continue;
          }
          pairs += 1;
          const [low, high] = there[1].split("–").map(Number);
          const [least, most] = back[1].split("–").map(Number);
          assert.ok(low <= Number(there[0]) && Number(there[0]) <= high, `${there}`);
          assert.ok(inverse(Number(there[0]), Number(back[0])), `${there} ${back}`);
          assert.ok(inverse(low, most) && inverse(high, least), `${there} ${back}`);
          const turned = { faster: "slower", slower: "faster", "no difference": "no difference" };
          assert.equal(back[2], turned[there[2]]);
        }
      }
    }
    // Nine of ten were compared at a workload; one failed at another, one is not planned for the third.
    assert.equal(pairs, 36 + 28 + 28);
  });

  inPage("has no fault that axe finds, light or dark, narrow or on paper", async (page) => {
    assert.deepEqual(await checks.axe(page, null, "#ratios"), []);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await checks.axe(page, ["color-contrast"], "#ratios"), []);
    await page.emulateMedia({ colorScheme: "light" });
    assert.deepEqual(await checks.paper(page), []);
    await page.setViewportSize({ width: 360, height: 900 });
    await checks.settled(page);
    assert.deepEqual(await checks.sideways(page), []);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  inPage("is sorted by each of its columns, either way, and as it was", async (page) => {
    const data = await dataOf(page);
    const baseline = data.stacks.findIndex(({ target }) => target === "go-nethttp");
    await select(page, "Baseline").selectOption(`${baseline}`);
    const before = await read(page);
    const orders = new Set();
    for (const [column, { beside, title }] of data.columns.entries()) {
      const figures = beside[baseline].map((cell) => ({ baseline: 1, compared: cell.value })[cell.is] ?? null);
      const byFigure = (direction) => {
        const places = figures.map((_, place) => place);
        // The sort is stable: those without a figure stay in the order of the stacks.
        const rank = (place) => (figures[place] === null ? Infinity : direction * figures[place]);
        const sorted = places.sort((one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0));
        return sorted.map((place) => data.stacks[place].target);
      };
      for (const [direction, sort, words] of [
        [-1, "descending", "best first"],
        [1, "ascending", "worst first"],
      ]) {
        await heading(page, column + 1).click();
        const now = await read(page);
        assert.deepEqual(now.names, byFigure(direction), `${title}, ${sort}`);
        assert.deepEqual(now.sorted, before.sorted.map((_, index) => (index === column + 1 ? sort : null)));
        assert.equal(now.status, `10 of 10 stacks are shown; sorted by ${title}, ${words}.`);
        // A row keeps its figures.
        const places = now.names.map((name) => data.stacks.findIndex(({ target }) => target === name));
        assert.deepEqual(now.cells, expected(data, baseline, places));
        assert.deepEqual(now.names.at(-1), "nginx-static", "it has no figure");
        orders.add(now.names.join());
      }
      await heading(page, column + 1).click();
      assert.deepEqual(await read(page), before);
    }
    assert.equal(orders.size, 6, "each column has an order of its own");
    const names = [
      ...["basic-web", "go-gin", "go-nethttp", "nginx-static", "node-express9", "node-express10"],
      ...["python-django", "python-flask", "rust-axum", "rust-hyper"],
    ];
    await heading(page, 0).click();
    const { names: up, status, sorted } = await read(page);
    assert.deepEqual([up, sorted[0]], [names, "ascending"]);
    assert.match(status, /sorted by name, from A to Z/);
    await heading(page, 0).click();
    const { names: down, sorted: other } = await read(page);
    assert.deepEqual([down, other[0]], [names.toReversed(), "descending"]);
    // Another baseline, in the same order of another column: the figures move, and the order follows them.
    await heading(page, 1).click();
    await select(page, "Baseline").selectOption({ label: "python-django" });
    const moved = await read(page);
    assert.deepEqual(moved.names, moved.names.toSorted((one, other) => {
      const figure = (name) => Number(moved.cells[moved.names.indexOf(name)][0][0]);
      return (figure(other) || 0) - (figure(one) || 0);
    }));
    assert.notEqual(Number(moved.cells[0][0][0]), 1);
    assert.equal(moved.sorted[1], "descending");
  });

  inPage("is sorted and filtered by keys alone, and keeps the focus", async (page) => {
    await select(page, "Baseline").focus();
    const stops = [];
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        const name = element.dataset.filter ?? element.getAttribute("aria-label") ?? element.innerText;
        return [name.split("\n")[0], getComputedStyle(element).outlineStyle !== "none"];
      });
    for (let stop = 0; stop < 8; stop += 1) {
      await page.keyboard.press("Tab");
      const [name, isShown] = await focused();
      assert.ok(isShown, `nothing shows that ${name} has the focus`);
      stops.push(name);
    }
    const before = ["language", "framework", "runtime", "database", "Reset", "Ratios to the baseline"];
    assert.deepEqual(stops, [...before, "Stack", "json, 50 connections"]);
    for (const [key, sort] of [["Enter", "descending"], ["Space", "ascending"]]) {
      await page.keyboard.press(key);
      assert.equal((await read(page)).sorted[1], sort);
      assert.deepEqual(await focused(), ["json, 50 connections", true]);
    }
    await select(page, "Language").focus();
    await page.keyboard.type("Ru");
    assert.deepEqual((await read(page)).names.toSorted(), ["rust-axum", "rust-hyper"]);
    assert.deepEqual(await focused(), ["language", true]);
  });

  inPage("shows the stacks that every filter lets through, and says how many", async (page) => {
    const data = await dataOf(page);
    const passing = (chosen) => {
      const passes = (stack) => Object.entries(chosen).every(([filter, value]) => stack[filter] === value);
      return data.stacks.filter(passes).map(({ target }) => target);
    };
    const told = async (names, what) => {
      const { names: shown, status } = await read(page);
      assert.deepEqual(shown, names, what);
      assert.ok(status.startsWith(`${names.length} of 10 stacks are shown`), status);
    };
    const labels = { language: "Language", framework: "Framework", runtime: "Kind", database: "Database access" };
    for (const [filter, label] of Object.entries(labels)) {
      const chooser = select(page, label);
      const values = await chooser.locator("option").evaluateAll((options) => options.map(({ value }) => value));
      assert.deepEqual(values.toSorted(), ["", ...new Set(data.stacks.map((stack) => stack[filter]))].toSorted());
      for (const value of values.slice(1)) {
        await chooser.selectOption({ value });
        const names = passing({ [filter]: value });
        assert.ok(names.length > 0 && names.length < 10);
        await told(names, `${filter} ${value}`);
      }
      await chooser.selectOption({ label: "all" });
      await told(passing({}), "all again");
    }
    await choose(page, "runtime", "compiled ahead of time");
    await choose(page, "database", "none");
    await told(["rust-hyper", "nginx-static"]);
    await choose(page, "language", "Rust");
    await told(["rust-hyper"]);
    await choose(page, "framework", "axum");
    await told([], "no stack is all of that");
    await choose(page, "database", "asynchronous");
    await told(["rust-axum"]);
    // The figures are those of the rows that are left, also when they are in another order.
    await choose(page, "framework", "");
    await choose(page, "database", "");
    await heading(page, 2).click();
    const { names, cells } = await read(page);
    assert.deepEqual(names.toSorted(), ["rust-axum", "rust-hyper"]);
    const places = names.map((name) => data.stacks.findIndex(({ target }) => target === name));
    assert.deepEqual(cells, expected(data, data.baseline, places));
  });

  inPage("keeps a baseline that is filtered away, says so, and goes back to what it was", async (page) => {
    const before = await read(page);
    await select(page, "Baseline").selectOption({ label: "go-gin" });
    await choose(page, "language", "Rust");
    const { caption, cells, status } = await read(page);
    assert.equal(caption, "How many times better than go-gin");
    const data = await dataOf(page);
    assert.deepEqual(cells, expected(data, 3, [0, 1]));
    assert.equal(status, "2 of 10 stacks are shown; the baseline, go-gin, is not among them.");
    // Still no fault, in a table that was changed.
    await heading(page, 1).click();
    assert.deepEqual(await checks.axe(page, null, "#ratios"), []);
    await page.getByRole("button", { name: "Reset" }).click();
    assert.deepEqual(await read(page), before);
    const chosen = await page.locator("#ratio-choosers select").evaluateAll((all) => all.map(({ value }) => value));
    assert.deepEqual(chosen, [`${data.baseline}`, "", "", "", ""]);
  });

  inPage("is printed as it is shown, without what chooses", async (page) => {
    await select(page, "Baseline").selectOption({ label: "go-gin" });
    await choose(page, "runtime", "compiled ahead of time");
    await heading(page, 1).click();
    const shown = await read(page);
    await page.emulateMedia({ media: "print" });
    assert.deepEqual(await read(page), shown);
    assert.equal(shown.names.length, 5);
    assert.equal(await page.locator("#ratio-choosers").isVisible(), false);
    await page.emulateMedia({ media: null });
  });

  test("stands there whole without scripts, with nothing that would not work", async () => {
    const { open } = await newWindow(browser, { javaScriptEnabled: false });
    const { page, complaints } = await open(fileOf(PAGE), 1280, "light");
    const data = await dataOf(page);
    const { caption, names, cells, sorted } = await read(page);
    assert.equal(caption, `How many times better than ${data.stacks[data.baseline].target}`);
    assert.deepEqual(names, data.stacks.map(({ target }) => target));
    assert.deepEqual(cells, expected(data, data.baseline, [...names.keys()]));
    assert.deepEqual(sorted, sorted.map(() => null));
    for (const control of ["select", "button"]) {
      assert.equal(await page.locator(`#ratios ${control}:visible`).count(), 0, control);
    }
    assert.deepEqual(complaints, []);
  });
});
