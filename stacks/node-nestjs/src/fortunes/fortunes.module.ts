import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { FortunesController } from './fortunes.controller.js';
import { FortunesService } from './fortunes.service.js';

@Module({
  imports: [DatabaseModule],
  controllers: [FortunesController],
  providers: [FortunesService],
})
export class FortunesModule {}
