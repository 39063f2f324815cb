import type { Fortune } from "./database.ts";

const ADDITIONAL: Fortune = {
  id: 0,
  message: "Additional fortune added at request time.",
};

/** The fortunes with one more, in the order of their messages. */
export function withAdditional(fortunes: Fortune[]): Fortune[] {
  return [...fortunes, ADDITIONAL].sort(byMessage);
}

function byMessage(a: Fortune, b: Fortune): number {
  if (a.message === b.message) return 0;
  return a.message < b.message ? -1 : 1;
}
