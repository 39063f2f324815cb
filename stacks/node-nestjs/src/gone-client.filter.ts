import { type ArgumentsHost, Catch } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { FastifyReply } from 'fastify';

/** Drops the failures of requests whose client has gone. Nest would log and answer them. */
@Catch()
export class GoneClientFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    const { raw } = host.switchToHttp().getResponse<FastifyReply>();
    if (!raw.destroyed) super.catch(error, host);
  }
}
