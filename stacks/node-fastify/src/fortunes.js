const ADDITIONAL = { id: 0, message: 'Additional fortune added at request time.' };

/** The fortunes with one more, in the order of their messages. */
export function withAdditional(fortunes) {
  return [...fortunes, ADDITIONAL].sort(byMessage);
}

function byMessage(a, b) {
  if (a.message === b.message) return 0;
  return a.message < b.message ? -1 : 1;
}
