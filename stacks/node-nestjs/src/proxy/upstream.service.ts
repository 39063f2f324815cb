import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, request } from 'undici';
import { type Settings, settings } from '../settings.js';

const KEEP_ALIVE_MS = 30_000;
const TIMEOUT_MS = 10_000;

export interface UpstreamAnswer {
  contentType: string;
  content: Uint8Array;
}

/** The upstream, over as many kept connections as there are requests under way. */
@Injectable()
export class UpstreamService implements OnApplicationShutdown {
  private readonly dispatcher = new Agent({
    connections: null,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });

  constructor(@Inject(settings.KEY) private readonly config: Settings) {}

  async fetch(): Promise<UpstreamAnswer> {
    const { statusCode, headers, body } = await request(
      this.config.upstreamUrl!,
      { dispatcher: this.dispatcher },
    );
    const content = await body.bytes();
    if (statusCode !== 200) throw new Error(`upstream answered ${statusCode}`);
    return {
      contentType: String(headers['content-type'] ?? 'text/plain'),
      content,
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dispatcher.destroy();
  }
}
