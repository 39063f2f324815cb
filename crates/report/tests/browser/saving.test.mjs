// What a reader can take out of a page: figures as pictures, and the data.
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

describe("a page draws", { concurrency: 2, timeout: BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  const drawn = (page) =>
    page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".plot")];
      return [boxes.filter((box) => box.querySelector(".trace")).length, boxes.length];
    });

  test("everything for paper", async () => {
    const { page, complaints, close } = await open(browser, fileOf("load-open-freeze"), 1280, "light", 200);
    // A window so low that the last plots are not near.
    const [before, all] = await drawn(page);
    assert.ok(before < all);
    // Nobody prints within a tenth of a second.
    await page.evaluate(() => plotlyCame);
    await page.pdf({ format: "A4" });
    assert.deepEqual(await drawn(page), [all, all]);
    assert.deepEqual(complaints, []);
    await close();
  });
});
