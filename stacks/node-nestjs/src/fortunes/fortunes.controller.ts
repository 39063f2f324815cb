import { Controller, Get, Render } from '@nestjs/common';
import { type Fortune, FortunesService } from './fortunes.service.js';

@Controller('fortunes')
export class FortunesController {
  constructor(private readonly fortunes: FortunesService) {}

  @Get()
  @Render('fortunes')
  async list(): Promise<{ fortunes: Fortune[] }> {
    return { fortunes: await this.fortunes.withAdditional() };
  }
}
