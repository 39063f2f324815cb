const WORLDS = 10_000;

export function randomId() {
  return 1 + Math.floor(Math.random() * WORLDS);
}

/** So many ids that differ from each other. */
export function randomIds(count) {
  const ids = new Set();
  while (ids.size < count) ids.add(randomId());
  return [...ids];
}

/** So many of `worlds` at random. */
export function randomWorlds(worlds, count) {
  return Array.from({ length: count }, () => worlds[Math.floor(Math.random() * worlds.length)]);
}
