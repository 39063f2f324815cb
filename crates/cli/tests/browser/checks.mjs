// What holds for every page. Each check takes an open page and returns the faults that it finds, in words.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// Shows what is folded away: it is part of the page.
export const unfold = (page) =>
  page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));

// The document is no wider than the window: only regions within it scroll sideways.
export const sideways = (page) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.scrollingElement;
    if (scrollWidth <= clientWidth) {
      return [];
    }
    // The first element that sticks out of everything around it says where to look.
    const wide = [...document.body.querySelectorAll("*")].find((element) => {
      return element.getBoundingClientRect().right > clientWidth + 1 && !element.closest(".scroll, pre, svg");
    });
    const where = wide ? `, for example ${wide.outerHTML.slice(0, 120)}` : "";
    return [`the document is ${scrollWidth} pixels wide in a window of ${clientWidth}${where}`];
  });

// Every plot is as wide as its figure has room, shows each series that it has values of, and its text can be read: large
// enough, apart, and within the window.
export const plots = (page) =>
  page.evaluate(() => {
    const faults = [];
    for (const box of document.querySelectorAll(".plot")) {
      const figure = box.closest("figure");
      const svg = box.querySelector("svg");
      const name = svg.getAttribute("aria-label");
      const { names } = JSON.parse(figure.querySelector("script").textContent);
      const drawn = svg.querySelectorAll("path.line:not(.dots), g:has(.mark)").length;
      if (names.length === 0 || drawn !== names.length) {
        faults.push(`${name}: ${drawn} series are drawn of ${names.length}`);
      }
      const { width, height, right } = svg.getBoundingClientRect();
      if (width < 100 || height < 50 || right > figure.getBoundingClientRect().right + 1) {
        faults.push(`${name}: the drawing is ${width} × ${height} in a figure ${figure.clientWidth} wide`);
      }
      const texts = [...svg.querySelectorAll("text")].filter((text) => text.getClientRects().length > 0);
      const places = texts.map((text) => text.getBoundingClientRect());
      texts.forEach((text, index) => {
        const { left, right, top, bottom } = places[index];
        if (parseFloat(getComputedStyle(text).fontSize) < 11 || left < 0 || right > document.documentElement.clientWidth) {
          faults.push(`${name}: "${text.textContent}" cannot be read`);
        }
        const isOver = (other) => other.left < right && left < other.right && other.top < bottom && top < other.bottom;
        const other = places.findIndex((other, nth) => nth < index && isOver(other));
        if (other >= 0) faults.push(`${name}: "${text.textContent}" is over "${texts[other].textContent}"`);
      });
    }
    return faults;
  });

// Takes rows out of long tables that differ from three others in nothing but text: axe asks each cell the same.
export const thin = (page) =>
  page.evaluate(() => {
    const form = (row) => [row, ...row.querySelectorAll("*")].map((part) => `${part.localName}.${part.className}`).join();
    for (const body of document.querySelectorAll("tbody")) {
      const seen = new Map();
      for (const row of [...body.rows]) {
        const alike = (seen.get(form(row)) ?? 0) + 1;
        seen.set(form(row), alike);
        if (alike > 3) {
          row.remove();
        }
      }
    }
  });

// The forms of markup that a page's file has: what axe judges an element by, but for its text. The page that is open
// serves to read it; what scripts add is left out, and is the same in every page that has what they add it to.
export const forms = (page, html) =>
  page.evaluate((html) => {
    const form = ({ localName, attributes, style }) => {
      // Names, places and numbers of rows differ from page to page and are no form.
      const values = [...attributes].map(({ name, value }) =>
        /^(id|style|href|value|for|aria-label|rowspan|colspan|data-.*)$/.test(name) ? name : `${name}=${value}`,
      );
      return [localName, ...values.sort(), style.color].join(" ");
    };
    const all = [...new DOMParser().parseFromString(html, "text/html").body.querySelectorAll("*")];
    return [...new Set(all.map((element) => `${form(element.parentElement)} > ${form(element)}`))];
  }, html.replace(/<script\b[^]*?<\/script>/g, ""));

// axe finds nothing that it calls serious or critical. `rules`: those alone; `within`: the part of the page.
export const axe = async (page, rules = null, within = "html") => {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(AXE);
  }
  const ask = async ([rules, within]) => {
    // Style sheets of a page that is opened from a file cannot be read again.
    const options = { resultTypes: ["violations"], preload: false, ...(rules && { runOnly: { type: "rule", values: rules } }) };
    return (await window.axe.run(within, options)).violations;
  };
  const violations = await page.evaluate(ask, [rules, within]);
  const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return grave.map(({ id, impact, nodes }) => {
    const [first] = nodes;
    const why = first.failureSummary.replace(/\s+/g, " ");
    return `axe, ${impact}: ${id}, ${nodes.length} times, for example ${first.target.join(" ")}: ${why}`;
  });
};

// Tab comes to every region that may scroll, shows where it is, and the arrow keys scroll there, within a bound.
export const keyboard = async (page, timeout = 30_000) => {
  const stops = await page.evaluate(() => {
    window.scrollTo(0, 0);
    const regions = [...document.querySelectorAll(".scroll, pre")].filter((region) => region.checkVisibility());
    regions.forEach((region) => region.setAttribute("data-not-reached", ""));
    return document.querySelectorAll("a, button, input, select, summary, [tabindex], .scroll, pre").length;
  });
  let scrolls = 0;
  const faults = [];
  for (let stop = 0; stop <= stops; stop += 1) {
    await page.keyboard.press("Tab");
    const { isRegion, isWide, isShown, name } = await page.evaluate(() => {
      const element = document.activeElement;
      const isRegion = element.hasAttribute("data-not-reached");
      element.removeAttribute("data-not-reached");
      return {
        isRegion,
        isWide: isRegion && element.scrollWidth > element.clientWidth + 1,
        isShown: getComputedStyle(element).outlineStyle !== "none",
        name: element.getAttribute("aria-label") ?? element.textContent.slice(0, 40),
      };
    });
    if (isRegion && !isShown) {
      faults.push(`nothing shows that "${name}" has the focus`);
    }
    // One of them shows that the keys work.
    if (isWide && scrolls === 0) {
      scrolls += 1;
      await page.keyboard.press("ArrowRight");
      const moved = page.waitForFunction(() => document.activeElement.scrollLeft > 0, null, { timeout });
      await moved.catch(() => faults.push(`the arrow keys do not scroll "${name}"`));
    }
  }
  const missed = await page.evaluate(() => {
    const name = (region) => `"${region.getAttribute("aria-label") ?? region.textContent.slice(0, 40)}"`;
    const all = (selector) => [...document.querySelectorAll(selector)].map(name);
    return [
      ...all("[data-not-reached]").map((name) => `Tab does not come to ${name}`),
      // Chromium lets Tab stop at any region that scrolls, but not every browser does.
      ...all(":is(.scroll, pre):not([tabindex])").map((name) => `${name} has no tabindex`),
    ];
  });
  return faults.concat(missed);
};

// No line is cut off at the edge of A4 paper (with margins of 1 cm, at 96 pixels to the inch).
export const paper = async (page) => {
  const size = page.viewportSize();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1047 });
  const faults = await sideways(page);
  await page.emulateMedia({ media: null });
  await page.setViewportSize(size);
  return faults;
};

// It can be printed, and fits the paper.
export const print = async (page) => {
  const faults = await paper(page);
  const margin = { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" };
  const pdf = await page.pdf({ format: "A4", margin });
  if (pdf.subarray(0, 5).toString() !== "%PDF-" || pdf.length < 5_000) {
    faults.push(`${pdf.length} bytes that are no document`);
  }
  return faults;
};
