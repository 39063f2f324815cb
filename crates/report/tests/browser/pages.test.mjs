// Every page in a real browser: wide and narrow, light and dark.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { BOUND_MS, launch, open, pages } from "./browser.mjs";
import * as checks from "./checks.mjs";

const other = (scheme) => (scheme === "light" ? "dark" : "light");

const named = (where, faults) => faults.map((fault) => `${where}: ${fault}`);

const faultsOf = async ({ page, complaints }, name, width, scheme) => {
  const faults = [...(await checks.plots(page)), ...(await checks.sideways(page))];
  if (name === "large") {
    // As large as opened, it has been asked. What it folds away are thousands of rows of the same few forms.
    await checks.thin(page);
  }
  await checks.unfold(page);
  faults.push(...named("unfolded", await checks.sideways(page)));
  faults.push(...(await checks.keyboard(page)));
  if (width > 1000) {
    // Once, and from the dark scheme: paper is light.
    faults.push(...named("printed", await checks.print(page)));
  }
  await checks.thin(page);
  faults.push(...(await checks.axe(page)));
  // The reader's system goes over to the other scheme, with the page open. Of what axe looks at, only colours change.
  await page.emulateMedia({ colorScheme: other(scheme) });
  faults.push(...named(other(scheme), await checks.plots(page)));
  faults.push(...named(other(scheme), await checks.axe(page, ["color-contrast"])));
  return faults.concat(complaints);
};

describe("every page", { concurrency: 2, timeout: 4 * BOUND_MS }, () => {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser?.close());

  test("is there", () => {
    const names = pages().map(({ name }) => name);
    for (const name of ["failures-only", "large", "load-open-freeze", "odd-names", "one-trial", "thirty-latency"]) {
      assert.ok(names.includes(name), `${name} is not among ${names.join(", ")}`);
    }
  });

  for (const { name, file } of pages()) {
    for (const [width, scheme] of [
      [1280, "dark"],
      [360, "light"],
    ]) {
      test(`${name}, ${width} pixels wide, opened ${scheme}`, async () => {
        const opened = await open(browser, file, width, scheme);
        try {
          assert.deepEqual(await faultsOf(opened, name, width, scheme), []);
        } finally {
          await opened.close();
        }
      });
    }
  }
});
