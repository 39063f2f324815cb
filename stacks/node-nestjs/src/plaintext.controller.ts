import { Controller, Get } from '@nestjs/common';

@Controller('plaintext')
export class PlaintextController {
  @Get()
  hello(): string {
    return 'Hello, World!';
  }
}
