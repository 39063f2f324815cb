// What a reader can take out of a page: values of a plot, plots as pictures, and the data.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, fileOf, launch, newWindow } from "./browser.mjs";

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

  test("the figures of a load", () =>
    within("load-open-freeze", "dark", 360, async (page) => {
      const titles = await page.locator("figure").evaluateAll((figures) =>
        figures.map((figure) => figure.querySelector("figcaption").firstChild.textContent.trim()));
      const url = await page.locator("figure").first().getAttribute("data-of");
      for (const [index, title] of titles.entries()) {
        const button = (kind) => page.locator("figure").nth(index).getByText(kind, { exact: true });
        const { bytes } = await saved(page, button("SVG"));
        const { root, texts, scripts } = await textsOf(page, bytes);
        assert.deepEqual([root, scripts], ["svg", 0]);
        assert.ok([title, url].every((text) => texts.join(" ").includes(text)), texts.join(" "));
        const svg = await looked(page, bytes, "image/svg+xml");
        const { bytes: pixels, name } = await saved(page, button("PNG"));
        assert.ok(pixels.subarray(0, 8).equals(PNG) && name.endsWith(".png"), name);
        const png = await looked(page, pixels, "image/png");
        assert.deepEqual([png.width, png.height], [2 * svg.width, 2 * svg.height]);
        // Its ground is the page's, and a drawing is on it.
        for (const { first, share } of [svg, png]) {
          assert.deepEqual(first, GROUNDS.dark);
          assert.ok(share > 0.01 && share < 0.3, `${title}: ${share}`);
        }
      }
      assert.ok(titles.length > 1);
    }));

  for (const [name, format] of [["heats-usual", "report"], ["load-open-freeze", "load"]]) {
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
    const file = fileOf("heats-usual");
    const [, command] = /<code>(sed [^<]*)<\/code>/.exec(readFileSync(file, "utf8"));
    const plain = command.replaceAll("&#x27;", "'").replaceAll("&lt;", "<");
    const text = execFileSync("sh", ["-c", plain.replaceAll("page.html", '"$0"'), file], { maxBuffer: 1e9 });
    assert.ok(text.equals(readFileSync(file.replace(/html$/, "json"))));
  });

  test("no button where there is no script, or on paper", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`file://${fileOf("load-open-freeze")}`);
    assert.deepEqual(await page.locator("figure button, .files button").filter({ visible: true }).count(), 0);
    await context.close();
    await within("load-open-freeze", "light", 1280, async (page) => {
      const shown = page.locator("figure button, .files button").filter({ visible: true });
      assert.ok((await shown.count()) > 4);
      await page.emulateMedia({ media: "print" });
      assert.equal(await shown.count(), 0);
    });
  });
});

describe("a plot", { concurrency: 2, timeout: BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  test("shows its values at the pointer, and by keys", async () => {
    const { page, complaints, close } = await open(browser, fileOf("load-open-freeze"), 360, "light");
    const figure = page.locator("figure").nth(1);
    const svg = figure.locator(".plot > svg");
    const shown = figure.locator("output");
    assert.equal(await shown.isVisible(), false);
    const { at, names } = JSON.parse(await figure.locator("script").textContent());
    const expected = (index) => {
      const [, place, values] = at[index];
      const lines = values.map((value, series) => value && `${names[series]}: ${value}`);
      return [place, ...lines].filter(Boolean).join("\n");
    };
    for (const index of [0, 3, at.length - 1]) {
      const { width } = await svg.boundingBox();
      await svg.hover({ position: { x: Math.min((at[index][0] / 1000) * width, width - 1), y: 100 } });
      assert.equal(await shown.innerText(), expected(index));
      const { left, right } = await shown.evaluate((element) => element.getBoundingClientRect());
      assert.ok(left >= 0 && right <= 360, `from ${left} to ${right}`);
    }
    await page.mouse.move(0, 0);
    assert.equal(await shown.isVisible(), false);
    await svg.focus();
    for (const [key, index] of [["End", at.length - 1], ["ArrowLeft", at.length - 2], ["Home", 0], ["ArrowRight", 1]]) {
      await page.keyboard.press(key);
      assert.equal(await shown.innerText(), expected(index), key);
    }
    await page.keyboard.press("Escape");
    assert.equal(await shown.isVisible(), false);
    assert.deepEqual(complaints, []);
    await close();
  });
});
