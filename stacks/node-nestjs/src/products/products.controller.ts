import { Controller, Get, Header, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { productsFrom } from './products.js';

const MAX_FROM = 1_000_000;

const productsQuerySchema = z.object({
  from: z.coerce.number().int().min(1).max(MAX_FROM),
});

type ProductsQuery = z.infer<typeof productsQuerySchema>;

@Controller('products')
export class ProductsController {
  /** Nest has no compression for one route, so that Fastify's is asked for here. */
  @Get()
  @Header('Content-Type', 'application/json')
  // Fastify says so of compressed answers alone.
  @Header('Vary', 'Accept-Encoding')
  list(
    @Query({ schema: productsQuerySchema }) query: ProductsQuery,
    @Res() reply: FastifyReply,
  ): void {
    reply.compress(JSON.stringify(productsFrom(query.from)));
  }
}
