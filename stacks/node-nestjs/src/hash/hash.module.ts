import { Module } from '@nestjs/common';
import { HashController } from './hash.controller.js';
import { HashService } from './hash.service.js';

@Module({
  controllers: [HashController],
  providers: [HashService],
})
export class HashModule {}
