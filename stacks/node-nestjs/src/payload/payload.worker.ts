import { EventEmitter, on } from 'node:events';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PAYLOAD } from './payload.js';

type Reply = (payload: Buffer) => void;

/** A worker that answers each request with the payload. */
@Injectable()
export class PayloadWorker implements OnModuleInit {
  private readonly requests = new EventEmitter();

  onModuleInit(): void {
    void this.work();
  }

  ask(): Promise<Buffer> {
    return new Promise((reply: Reply) => this.requests.emit('request', reply));
  }

  /** Answers one request after another. `on` queues those that arrive meanwhile. */
  private async work(): Promise<void> {
    for await (const [reply] of on(this.requests, 'request')) {
      (reply as Reply)(PAYLOAD);
    }
  }
}
