import { Module } from '@nestjs/common';
import { ProxyController } from './proxy.controller.js';
import { UpstreamService } from './upstream.service.js';

@Module({
  controllers: [ProxyController],
  providers: [UpstreamService],
})
export class ProxyModule {}
