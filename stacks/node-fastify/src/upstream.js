import { Agent, request } from 'undici';

const KEEP_ALIVE_MS = 30_000;
const TIMEOUT_MS = 10_000;

/** The upstream, over as many kept connections as there are requests under way. */
export function createUpstream(url) {
  const dispatcher = new Agent({
    connections: null,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });

  return {
    async fetch() {
      const { statusCode, headers, body } = await request(url, { dispatcher });
      const content = await body.bytes();
      if (statusCode !== 200) throw new Error(`upstream answered ${statusCode}`);
      return { contentType: headers['content-type'] ?? 'text/plain', content };
    },
    close: () => dispatcher.destroy(),
  };
}
