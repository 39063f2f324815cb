// What a reader can take out of a page: figures as pictures, and the data.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, fileOf, launch, newWindow } from "./browser.mjs";
import * as checks from "./checks.mjs";

const open = async (browser, ...what) => {
  const { open, close } = await newWindow(browser);
  return { ...(await open(...what)), close };
};
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

// Presses a button, by its keyboard's way, and returns the file that arrives.
const saved = async (page, button) => {
  const arrival = page.waitForEvent("download");
  await button.focus();
  await page.keyboard.press("Enter");
  const download = await arrival;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
};

// Reads a picture as the browser does: its size, its first pixel, and whether it has pixels of another colour.
const looked = (page, bytes, type) =>
  page.evaluate(
    async ([base64, type]) => {
      const image = new Image();
      image.src = `data:${type};base64,${base64}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      const pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0);
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      const first = [...data.slice(0, 4)];
      let inked = 0;
      for (let at = 0; at < data.length; at += 4) {
        inked += [0, 1, 2].some((part) => Math.abs(data[at + part] - first[part]) > 60) ? 1 : 0;
      }
      return { width: canvas.width, height: canvas.height, first, share: inked / (data.length / 4) };
    },
    [bytes.toString("base64"), type],
  );

// The text of an SVG's elements, and whether it is one at all.
const textsOf = (page, bytes) =>
  page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    const texts = [...parsed.querySelectorAll("text, title")].map((element) => element.textContent);
    return { root: parsed.documentElement.localName, texts, scripts: parsed.querySelectorAll("script").length };
  }, bytes.toString("utf8"));

const GROUNDS = { light: [252, 251, 248, 255], dark: [21, 24, 27, 255] };

describe("a page gives away", { concurrency: 2, timeout: BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const within = async (name, scheme, width, act) => {
    const opened = await open(browser, fileOf(name), width, scheme);
    try {
      await act(opened.page);
      assert.deepEqual(opened.complaints, []);
    } finally {
      await opened.close();
    }
  };

  for (const [scheme, width] of [["light", 1280], ["dark", 360]]) {
    test(`its figures, ${scheme}, ${width} pixels wide`, () =>
      within("plausible", scheme, width, async (page) => {
        const session = await page.locator("main").getAttribute("data-name");
        const figure = page.locator("figure").first();
        const shown = await figure.evaluate((figure) => ({
          of: figure.closest("section").querySelector("h2").textContent.trim(),
          title: figure.querySelector("figcaption").firstChild.textContent.trim(),
          legend: [...figure.querySelectorAll(".legend > span")].map((entry) => entry.lastChild.textContent.trim()),
          stacks: JSON.parse(document.getElementById(`${figure.querySelector(".plot").id}-data`).textContent)
            .layout.annotations.map(({ text }) => text),
        }));
        assert.ok(shown.legend.length > 1 && shown.stacks.length > 1);
        const button = (kind) => figure.getByRole("button", { name: `${kind}: save “${shown.title}”, ${shown.of}` });

        const svg = await saved(page, button("SVG"));
        const { root, texts, scripts } = await textsOf(page, svg.bytes);
        assert.deepEqual([root, scripts], ["svg", 0]);
        const all = texts.join(" ");
        for (const expected of [shown.of, shown.title, ...shown.legend, ...shown.stacks, `Deadheat ${session}`]) {
          assert.ok(all.includes(expected), `${expected} is not in the picture: ${all}`);
        }
        const drawing = await looked(page, svg.bytes, "image/svg+xml");
        assert.deepEqual(drawing.first, GROUNDS[scheme], "the ground");
        assert.ok(drawing.width >= 640 && drawing.share > 0.005, JSON.stringify(drawing));

        const png = await saved(page, button("PNG"));
        assert.ok(png.bytes.subarray(0, 8).equals(PNG));
        const picture = await looked(page, png.bytes, "image/png");
        assert.deepEqual([picture.width, picture.height], [2 * drawing.width, 2 * drawing.height]);
        assert.deepEqual(picture.first, GROUNDS[scheme], "the ground");
        assert.ok(picture.share > 0.005, JSON.stringify(picture));

        assert.ok(png.name.startsWith(`${session}-`), png.name);
        assert.match(png.name, /Throughput.*\.png$/);
        assert.equal(svg.name.replace(/svg$/, "png"), png.name);
      }));
  }

  test("the figures of a load", () =>
    within("load-open-freeze", "light", 1280, async (page) => {
      const titles = await page.locator("figure").evaluateAll((figures) =>
        figures.map((figure) => figure.querySelector("figcaption").firstChild.textContent.trim()));
      const url = (await page.locator("h1").textContent()).trim();
      for (const [index, title] of titles.entries()) {
        const { bytes } = await saved(page, page.locator("figure").nth(index).getByText("SVG", { exact: true }));
        const { texts } = await textsOf(page, bytes);
        assert.ok([title, url].every((text) => texts.join(" ").includes(text)), texts.join(" "));
      }
      assert.ok(titles.length > 1);
    }));

  for (const [name, format] of [["plausible", "report"], ["large", "report"], ["load-open-freeze", "load"]]) {
    test(`its data: ${name}`, () =>
      within(name, "light", 1280, async (page) => {
        for (const ending of ["json", "csv"]) {
          const button = page.locator(`button[data-file="${format}.${ending}"]`);
          const { name: file, bytes } = await saved(page, button);
          const made = readFileSync(path.join(path.dirname(fileOf(name)), `${name}.${ending}`));
          assert.ok(bytes.equals(made), `${file} is not what the crate makes: ${bytes.length} of ${made.length} bytes`);
          assert.ok(file.endsWith(`-${format}.${ending}`), file);
          if (ending === "json") {
            assert.ok(JSON.parse(bytes).schema > 0);
          }
        }
      }));
  }

  test("its data without a browser, as it says", async () => {
    const file = fileOf("plausible");
    const [, command] = /<code>(sed [^<]*)<\/code>/.exec(readFileSync(file, "utf8"));
    const plain = command.replaceAll("&#x27;", "'").replaceAll("&lt;", "<");
    const text = execFileSync("sh", ["-c", plain.replaceAll("page.html", '"$0"'), file], { maxBuffer: 1e9 });
    assert.ok(text.equals(readFileSync(file.replace(/html$/, "json"))));
  });

  test("no button where there is no script, or on paper", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`file://${fileOf("plausible")}`);
    assert.deepEqual(await page.locator("figure button, .files button").filter({ visible: true }).count(), 0);
    await context.close();
    await within("plausible", "light", 1280, async (page) => {
      const shown = page.locator("figure button, .files button").filter({ visible: true });
      assert.ok((await shown.count()) > 4);
      await page.emulateMedia({ media: "print" });
      assert.equal(await shown.count(), 0);
    });
  });
});

describe("a page draws", { concurrency: 2, timeout: BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const drawn = (page) =>
    page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".plot")];
      return [boxes.filter((box) => box.querySelector(".trace")).length, boxes.length];
    });

  test("nothing that is far away", async () => {
    const { page, complaints, close } = await open(browser, fileOf("large"), 1280, "light");
    await page.waitForFunction(() => performance.getEntriesByName("usable").length === 1);
    assert.equal((await drawn(page))[0], 0);
    assert.equal(await page.evaluate(() => "Plotly" in window), false, "the library waits, too");
    assert.deepEqual(complaints, []);
    await close();
  });

  test("everything for paper", async () => {
    const { page, complaints, close } = await open(browser, fileOf("plausible"), 1280, "light");
    const [before, all] = await drawn(page);
    assert.ok(before < all);
    // Nobody prints within a tenth of a second.
    await page.evaluate(() => plotlyCame);
    await page.pdf({ format: "A4" });
    assert.deepEqual(await drawn(page), [all, all]);
    assert.deepEqual(complaints, []);
    await close();
  });

  const apart = () => path.join(path.dirname(fileOf("plausible")), "separate/plausible.html");

  test("with the library from a file beside it, and asks for nothing else", async () => {
    const { page, complaints, close } = await open(browser, apart(), 1280, "light");
    assert.deepEqual(await checks.plots(page), []);
    assert.equal(complaints.length, 1, complaints.join("\n"));
    assert.match(complaints[0], /^request: file:.*\/separate\/deadheat-plotly-[0-9.]+\.min\.js$/);
    await close();
  });

  test("words where that file is missing", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "deadheat-browser-"));
    const alone = path.join(folder, "plausible.html");
    copyFileSync(apart(), alone);
    const { page, close } = await open(browser, alone, 1280, "light");
    await page.locator(".plot").first().scrollIntoViewIfNeeded();
    await page.getByText(/This plot needs the file deadheat-plotly-[0-9.]+\.min\.js beside the page/).first().waitFor();
    await close();
    rmSync(folder, { recursive: true });
  });
});
