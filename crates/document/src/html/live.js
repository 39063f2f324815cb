// Reloads the page when the next one is expected, and restores what the reader has made of it.
{
  const bar = document.getElementById("live");
  const status = document.getElementById("live-status");
  const pause = document.getElementById("live-pause");
  const kept = "deadheat-live";
  const written = Number(bar.dataset.written), next = Number(bar.dataset.next);
  // How soon the page looks again if the next one was late, and how late it may be at most.
  const AGAIN = 5000, LATEST = 600000 + 10 * next;
  let timer = null;

  // What a reader has made of the page. Elements without an id are found again by their place below one with an id.
  const place = (element, selector) => {
    const owner = element.parentElement.closest("[id]") ?? document.body;
    return [owner.id, [...owner.querySelectorAll(selector)].indexOf(element)];
  };
  const at = ([id, index], selector) =>
    (id ? document.getElementById(id) : document.body)?.querySelectorAll(selector)[index];
  const OPEN = "details[open]", DETAILS = "details", CONTROLS = "main select, main input, main textarea", SORTED = "th[aria-sort]", HEAD = "th";
  const all = (selector) => [...document.querySelectorAll(selector)];

  // What is not laid out, such as the plots' data, is nowhere.
  const isShown = (element) => element.getClientRects().length > 0;

  const keep = () => {
    const above = all("main [id]").filter((one) => isShown(one) && one.getBoundingClientRect().top <= bar.offsetHeight + 1);
    const anchor = above.at(-1);
    sessionStorage.setItem(kept, JSON.stringify({
      scroll: scrollY,
      anchor: anchor && { id: anchor.id, top: anchor.getBoundingClientRect().top },
      open: all(OPEN).map((one) => place(one, DETAILS)),
      controls: all(CONTROLS).map((one) => [place(one, "select, input, textarea"), one.value, one.checked]),
      sorted: all(SORTED).map((one) => [place(one, HEAD), one.getAttribute("aria-sort")]),
      focus: document.activeElement?.id,
    }));
  };

  const scroll = ({ scroll, anchor }) => {
    const element = anchor && document.getElementById(anchor.id);
    scrollTo({ top: element && isShown(element) ? scrollY + element.getBoundingClientRect().top - anchor.top : scroll, behavior: "instant" });
  };

  const restore = (state) => {
    for (const one of state.open) at(one, DETAILS)?.setAttribute("open", "");
    for (const [one, value, checked] of state.controls) {
      const control = at(one, "select, input, textarea");
      if (!control || (control.value === value && control.checked === checked)) continue;
      control.value = value;
      control.checked = checked;
      control.dispatchEvent(new Event("input", { bubbles: true }));
      control.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const [one, order] of state.sorted) {
      const head = at(one, HEAD);
      for (let clicks = 0; clicks < 3 && head && head.getAttribute("aria-sort") !== order; clicks++) {
        head.querySelector("button")?.click();
      }
    }
    if (state.focus) document.getElementById(state.focus)?.focus({ preventScroll: true });
    scroll(state);
  };

  const held = () => sessionStorage.getItem(`${kept}-held`) === "yes";
  const follow = () => {
    clearTimeout(timer);
    if (document.hidden || held()) return;
    const age = Date.now() - written;
    if (age > LATEST) {
      bar.dataset.is = "lost";
      status.textContent = `Nothing new since ${new Date(written).toLocaleTimeString()}: the session may have been killed. Reload the page to look again.`;
      return;
    }
    timer = setTimeout(() => { keep(); location.reload(); }, Math.max(next - age, AGAIN));
  };

  const words = status.textContent;
  const show = () => {
    pause.textContent = held() ? "Go on" : "Hold this page still";
    status.textContent = held() ? `${words}, when this page was held still; the session goes on` : words;
  };
  pause.addEventListener("click", () => {
    sessionStorage.setItem(`${kept}-held`, held() ? "no" : "yes");
    show();
    follow();
  });
  show();
  pause.hidden = false;

  // A page that nobody sees does not take CPU time from the measurement.
  document.addEventListener("visibilitychange", follow);

  const state = JSON.parse(sessionStorage.getItem(kept));
  if (state) {
    sessionStorage.removeItem(kept);
    restore(state);
    addEventListener("load", () => scroll(state), { once: true });
  }
  follow();
}
