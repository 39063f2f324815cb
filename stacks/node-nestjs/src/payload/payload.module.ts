import { Module } from '@nestjs/common';
import { PayloadController } from './payload.controller.js';
import { PayloadWorker } from './payload.worker.js';

@Module({
  controllers: [PayloadController],
  providers: [PayloadWorker],
})
export class PayloadModule {}
