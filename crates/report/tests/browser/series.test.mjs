// The section "Each trial over its measurement": another stack, the figures in tables, and what it is without scripts.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { BOUND_MS, launch, pages } from "./browser.mjs";

const { file } = pages().find(({ name }) => name === "over-time");

const opened = async (browser, options) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(BOUND_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(pathToFileURL(file).href);
  return { page, complaints, close: () => context.close() };
};

const stackOf = (page) => page.getByRole("combobox", { name: "Stack", exact: true });

// What is drawn: each line's words at the pointer.
const lines = async (page) => {
  await page.locator("#series-plot").scrollIntoViewIfNeeded();
  await page.locator("#series-plot .main-svg .trace").first().waitFor();
  return page.evaluate(() => document.getElementById("series-plot").data.map(({ text, line, marker, mode, yaxis }) =>
    ({ text, colour: line.color, dash: line.dash, symbol: marker.symbol, mode, yaxis })));
};

const cells = (page, id) =>
  page.evaluate((id) => [...document.getElementById(id).rows].map((row) => [...row.cells].map((cell) => cell.innerText)), id);

const blocks = (drawn) => new Set(drawn.map(({ text }) => text[0].split(",")[0]));

describe("trials over their measurements", { timeout: BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const inPage = (name, body, options) =>
    test(name, async () => {
      const { page, complaints, close } = await opened(browser, options);
      try {
        await body(page);
        assert.deepEqual(complaints, []);
      } finally {
        await close();
      }
    });

  inPage("the stack that is chosen, by keyboard too, is drawn, and its figures fill the tables", async (page) => {
    const first = await lines(page);
    assert.equal(first.length, 15, "five trials, three lines each");
    assert.deepEqual(await cells(page, "series-rates"), [], "nothing is filled before it is opened");
    await page.locator("#series-figures summary").click();
    await page.locator("#series-rates caption", { hasText: "<lucky>" }).waitFor();

    await stackOf(page).focus();
    await page.keyboard.type("tired");
    await page.locator("#series-shown", { hasText: "tired" }).waitFor();
    assert.equal(
      await page.locator("#series-shown").innerText(),
      "tired, json, 50 connections: 4 trials. Not steady: block 3. " +
        "Without samples of CPU and memory, as in older records: block 2.",
    );
    const drawn = await lines(page);
    assert.equal(drawn.length, 10, "four lines of requests, three of CPU and of memory");
    assert.equal(blocks(drawn).size, 4);

    // Marked by more than colour, in each part; its legend says why.
    const unsteady = drawn.filter(({ mode }) => mode === "lines+markers");
    assert.deepEqual(unsteady.map(({ yaxis }) => yaxis), ["y", "y2", "y3"]);
    assert.deepEqual([...blocks(unsteady)], ["block 3"]);
    assert.ok(unsteady.every(({ symbol }) => symbol === "x"));
    const legend = await page.locator("#series-legend > span").allInnerTexts();
    assert.deepEqual(legend.map((text) => text.trim()),
      ["block 1", "block 2", "block 3, not steady: throughput fell", "block 4"]);

    // The table has what stands at the pointer.
    const [heading, ...rows] = await cells(page, "series-rates");
    assert.equal(heading.length, 5);
    const third = drawn.find(({ text, yaxis }) => yaxis === "y" && text[0].startsWith("block 3"));
    assert.deepEqual(rows.map((row) => `block 3, ${row[0]}: ${row[3]} requests/s`), third.text);
    const [, ...usage] = await cells(page, "series-usage");
    assert.equal(usage.length, 3 * 20);
    const cores = drawn.find(({ text, yaxis }) => yaxis === "y2" && text[0].startsWith("block 1"));
    const ofFirst = usage.filter(([block]) => block === "block 1");
    assert.deepEqual(ofFirst.map(([block, span, used]) => `${block}, ${span}: ${used} CPU cores`), cores.text);
  });

  inPage("lines are told apart by dash or hue", async (page) => {
    await stackOf(page).selectOption("leaky");
    const drawn = (await lines(page)).filter(({ yaxis }) => yaxis === "y");
    assert.equal(new Set(drawn.map(({ colour, dash }) => `${colour} ${dash}`)).size, 4);
    // The stack's name, not how it is shown: others have it with a note.
    assert.equal(await stackOf(page).inputValue(), "leaky");
  });

  inPage("without scripts the tables say how steady each trial was", async (page) => {
    assert.equal(await page.locator("#series-plot").isVisible(), false);
    assert.equal(await stackOf(page).isVisible(), false);
    await page.locator("#series summary", { hasText: "How steady each trial was" }).click();
    assert.equal(await page.locator("#series").getByText("not steady: throughput fell").isVisible(), true);
  }, { javaScriptEnabled: false });
});
