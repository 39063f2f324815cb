// The pages of `deadheat site`, opened from their files: what they answer, that an address brings back what it shows, and what
// holds for every page.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as checks from "./checks.mjs";
import { BOUND_MS, launch, newWindow } from "./browser.mjs";

const SITE = path.join(process.env.PAGES ?? "", "site");
const HOME = pathToFileURL(SITE).href;

describe("the site", { timeout: 4 * BOUND_MS }, () => {
  let browser;
  let window;

  before(async () => {
    assert.ok(existsSync(path.join(SITE, "index.html")), `there is no site in ${SITE}`);
    browser = await launch();
    window = await newWindow(browser);
  });
  after(() => browser?.close());

  // Opens a page with what is after the # of its address, and waits for its answer.
  const open = async (address, width = 1280, colorScheme = "light") => {
    const [file, hash = ""] = address.split("#");
    const { page, complaints } = await window.open(path.join(SITE, file), width, colorScheme);
    if (hash) await page.evaluate((hash) => (location.hash = hash), hash);
    await settled(page);
    // The site's own files are all that it may read.
    return { page, faults: () => complaints.filter((one) => !one.startsWith(`request: ${HOME}/`)) };
  };
  const settled = (page) =>
    page.waitForFunction(() => !/^Loading/.test(document.getElementById("answer")?.textContent ?? "")).then(() => page.waitForTimeout(200));
  const answer = (page) => page.locator("#answer").textContent();

  const ADDRESSES = [
    "index.html#session=usual",
    "index.html#session=hostile",
    "index.html#session=many&sort=cost&price=0.04",
    "index.html#session=no-heats",
    "index.html#session=all-unavailable",
    "compare.html#sa=usual&sb=usual",
    "compare.html#sa=usual&sb=usual-again",
    "compare.html#sa=hostile&sb=hostile",
    "timeline.html#of=null-server",
    "data.html",
    "stacks/stack-0.html",
  ];
  for (const address of ADDRESSES) {
    test(`${address} at 360 pixels, on paper, by keys, and with axe`, async () => {
      const narrow = await open(address, 360);
      const faults = await checks.sideways(narrow.page);
      await checks.unfold(narrow.page);
      faults.push(...(await checks.sideways(narrow.page)), ...(await checks.paper(narrow.page)));
      faults.push(...(await checks.keyboard(narrow.page)), ...(await checks.axe(narrow.page)), ...narrow.faults());
      const dark = await open(address, 1280, "dark");
      faults.push(...(await checks.axe(dark.page, ["color-contrast"])), ...(await checks.print(dark.page)), ...dark.faults());
      assert.deepEqual(faults, []);
    });
  }

  test("a filter by keys changes the address, and the address brings it back", async () => {
    const { page } = await open("index.html#session=usual");
    const before = await page.locator("#stacks tbody tr").count();
    const select = page.locator("[name=language]");
    await select.focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((before) => document.querySelectorAll("#stacks tbody tr").length < before, before);
    const [shown, hash] = [await page.locator("#stacks").innerText(), await page.evaluate(() => location.hash)];
    assert.match(hash, /session=usual&language=/);
    const again = await open(`index.html${hash}`);
    await again.page.waitForFunction((before) => document.querySelectorAll("#stacks tbody tr").length < before, before);
    assert.equal(await again.page.locator("#stacks").innerText(), shown);
  });

  test("a link to something that is not here says so", async () => {
    for (const [address, lost] of [
      ["index.html#session=usual&language=Cobol", "Cobol"],
      ["index.html#session=gone", "gone"],
      ["compare.html#sa=usual&sb=usual&a=nobody", "nobody"],
      ["compare.html#sa=usual&sb=usual&load=nothing", "nothing"],
      ["timeline.html#stack=nobody", "nobody"],
    ]) {
      const { page } = await open(address);
      assert.match(await page.locator("#details").innerText(), new RegExp(`The link asks for ${lost}, which is not here`), address);
      assert.doesNotMatch(await answer(page), new RegExp(lost), address);
    }
  });

  test("without a session, the newest one with figures is shown", async () => {
    for (const address of ["index.html", "index.html#loads=users", "compare.html#load=users"]) {
      const { page } = await open(address);
      const shown = await page.evaluate(() => ["session", "sa"].map((name) => document.querySelector(`[name=${name}]`)?.value).find(Boolean));
      assert.equal(shown, "changed", address);
    }
  });

  test("the load that a link asks for comes first", async () => {
    const { page } = await open("compare.html#sa=usual&sb=usual");
    const loads = await page.locator("#verdicts tbody th").allInnerTexts();
    const last = loads.filter((load) => load !== "any").at(-1);
    assert.notEqual(last, loads[0]);
    const asked = await open(`compare.html#sa=usual&sb=usual&load=${last.split(/[: ]/)[0]}`);
    assert.equal((await asked.page.locator("#verdicts tbody th").first().innerText()).split(/[: ]/)[0], last.split(/[: ]/)[0]);
  });

  test("two workloads with weights have a score, and the table is sorted by what is asked for", async () => {
    const { page } = await open("index.html#session=usual");
    const boxes = page.locator("#weights input[type=checkbox]");
    assert.ok((await boxes.count()) > 1);
    await boxes.nth(1).check();
    await page.waitForFunction(() => /score/.test(document.querySelector("#stacks thead").innerText));
    assert.match(await page.evaluate(() => location.hash), /loads=/);
    await page.getByRole("button", { name: "peak memory" }).click();
    await page.waitForFunction(() => document.querySelector("[data-sort=memory]").closest("th").ariaSort === "ascending");
    assert.match(await page.evaluate(() => location.hash), /sort=memory/);
  });

  test("one stack against another has the verdict in its first line, reversed when they are swapped", async () => {
    const { page } = await open("compare.html#sa=usual&sb=usual");
    const first = await answer(page);
    await page.getByRole("button", { name: "Swap" }).click();
    await page.waitForFunction((first) => document.getElementById("answer").textContent !== first, first);
    const words = ["faster", "slower", "undecided", "dead heat"].map((word) => first.includes(word));
    assert.ok(words.some(Boolean), first);
    const swapped = await answer(page);
    assert.equal(first.includes("faster"), swapped.includes("slower"), `${first} ${swapped}`);
  });

  test("a change is one since the session before on the same kind of machine, and says if the machine changed", async () => {
    const { page } = await open("timeline.html#stack=stack-0&load=plaintext:c50");
    assert.match(await answer(page), /the latest slower on 2026-03-07/);
    const details = await page.locator("#details").innerText();
    assert.match(details, /At plaintext c50, the throughput of 4 stacks that did not change is .* times as high in the session of 2026-03-07 10:00 as in the session of 2026-03-03 10:00/);
  });

  test("the link to the answer keeps the address", async () => {
    const { page } = await open("index.html#session=usual&sort=cost");
    const hash = await page.evaluate(() => location.hash);
    await page.locator(".skip").focus();
    await page.keyboard.press("Enter");
    const after = await page.evaluate(() => [document.activeElement.id, location.hash]);
    assert.deepEqual(after, ["main", hash]);
  });

  test("a weight of zero removes the workload", async () => {
    const { page } = await open("index.html#session=usual&loads=plaintext:c50,users:c50*2");
    const box = page.locator('[name="use-users:c50"]');
    assert.ok(await box.isChecked());
    await page.locator('[name="weight-users:c50"]').fill("0");
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => !document.querySelector('[name="use-users:c50"]').checked);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /users/);
  });

  test("what is proven at each workload is proven for all", async () => {
    const { page } = await open("index.html#session=usual");
    // A later step proved each: the interval of the step before holds 1.
    const verdict = await page.evaluate(() => {
      const found = { log: 0.05, below: 0.1, above: 0.1, verdict: "F", heats: 9 };
      const parts = ["a", "b"].map((starts) => ({ found, weight: 1, starts }));
      return combined(parts, { margin: 0.03, least_heats: 8 }).verdict;
    });
    assert.equal(verdict, "F");
  });

  test("two sessions under two kernels are compared, and what changed is said", async () => {
    const { page } = await open("compare.html#sa=usual&sb=usual-again");
    assert.match(await answer(page), /^Of all stacks and loads: no proven change, 8 undecided/);
    assert.match(await page.locator("#differences").innerText(), /1\.26[^]*7\.0|7\.0[^]*1\.26/);
  });
});
