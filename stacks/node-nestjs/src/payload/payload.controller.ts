import { Controller, Get, Header } from '@nestjs/common';
import { PAYLOAD } from './payload.js';
import { PayloadWorker } from './payload.worker.js';

@Controller()
export class PayloadController {
  constructor(private readonly worker: PayloadWorker) {}

  @Get('payload')
  @Header('Content-Type', 'application/octet-stream')
  payload(): Buffer {
    return PAYLOAD;
  }

  @Get('ping-pong')
  @Header('Content-Type', 'application/octet-stream')
  pingPong(): Promise<Buffer> {
    return this.worker.ask();
  }
}
