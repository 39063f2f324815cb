/** The integer in `text`, or undefined if there is none or it is out of range. */
export function parseInteger(text, min, max) {
  if (!/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value >= min && value <= max ? value : undefined;
}
