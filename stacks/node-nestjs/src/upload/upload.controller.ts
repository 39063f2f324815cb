import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  Body,
  Controller,
  HttpCode,
  HttpStatus,
  PayloadTooLargeException,
  Post,
} from '@nestjs/common';

const MAX_BYTES = 16 * 1024 * 1024;

@Controller('upload')
export class UploadController {
  /** SHA-256 of the body, piece by piece; base64. */
  @Post()
  @HttpCode(HttpStatus.OK)
  async digest(@Body() body: Readable): Promise<string> {
    const sha256 = createHash('sha256');
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      // What is too long is read to its end, because the next request follows it.
      if (length <= MAX_BYTES) sha256.update(chunk);
    }
    if (length > MAX_BYTES) throw new PayloadTooLargeException();
    return sha256.digest('base64');
  }
}
