const TIMEOUT_MS = 10_000;

/** Asks the upstream, over one of the connections that fetch keeps. */
export async function fetchUpstream(url: string) {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const content = await response.arrayBuffer();
  if (response.status !== 200) {
    throw new Error(`upstream answered ${response.status}`);
  }
  return {
    contentType: response.headers.get("content-type") ?? "text/plain",
    content,
  };
}
