// The browser, and the pages that are opened in it. `cargo xtask browser` says where both are.
import { readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

// Ends what is broken; nothing here takes as long on any machine.
export const BOUND_MS = 180_000;

const fromEnvironment = (name, what) => {
  const value = process.env[name];
  if (!value) {
    throw new Error(`the variable ${name} does not say where ${what}; start this with \`cargo xtask browser\``);
  }
  return value;
};

// Starts the installed Chromium. It gets no network, whatever a page asks for.
export const launch = () =>
  chromium.launch({
    executablePath: fromEnvironment("CHROMIUM", "Chromium is"),
    args: ["--host-resolver-rules=MAP * ~NOTFOUND"],
    timeout: BOUND_MS,
  });

// Every page, as the test `look` of this crate wrote them: `{ name, file }`.
export const pages = () => {
  const folder = fromEnvironment("PAGES", "the pages are");
  const files = readdirSync(folder).filter((file) => file.endsWith(".html"));
  return files.sort().map((file) => ({ name: path.basename(file, ".html"), file: path.join(folder, file) }));
};

// Opens a file in a context of its own, `width` pixels wide, in the colour scheme "light" or "dark", and waits for its
// `load` event. `complaints` grows with all that the page or the browser finds fault with from then on.
export const open = async (browser, file, width, colorScheme) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  context.setDefaultTimeout(BOUND_MS);
  const page = await context.newPage();
  const address = pathToFileURL(file).href;
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning", "assert"].includes(message.type())) {
      complaints.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("crash", () => complaints.push("the page crashed"));
  let isAskedFor = false;
  page.on("request", (request) => {
    // The page itself, once. What a page makes of its own data leaves no machine.
    if (request.url() === address && request.isNavigationRequest() && !isAskedFor) {
      isAskedFor = true;
    } else if (!/^(data|blob):/.test(request.url())) {
      complaints.push(`request: ${request.url()}`);
    }
  });
  page.on("websocket", (socket) => complaints.push(`request: ${socket.url()}`));
  await page.goto(address);
  return { page, complaints, close: () => context.close() };
};
