import {
  BadGatewayException,
  Controller,
  Get,
  Logger,
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { UpstreamService } from './upstream.service.js';

@Controller('proxy')
export class ProxyController {
  private readonly logger = new Logger(ProxyController.name);

  constructor(private readonly upstream: UpstreamService) {}

  @Get()
  async relay(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Uint8Array> {
    const { contentType, content } = await this.upstream
      .fetch()
      .catch((cause) => {
        this.logger.error('the upstream failed', cause);
        throw new BadGatewayException();
      });
    reply.type(contentType);
    return content;
  }
}
