import { Controller, Get, Query } from '@nestjs/common';
import { z } from 'zod';
import { HashService } from './hash.service.js';

const MAX_ROUNDS = 1_000_000;

const hashQuerySchema = z.object({
  rounds: z.coerce.number().int().min(1).max(MAX_ROUNDS),
});

type HashQuery = z.infer<typeof hashQuerySchema>;

@Controller('bytes')
export class HashController {
  constructor(private readonly hashes: HashService) {}

  @Get()
  digest(
    @Query({ schema: hashQuerySchema }) query: HashQuery,
  ): Promise<string> {
    return this.hashes.digest(query.rounds);
  }
}
