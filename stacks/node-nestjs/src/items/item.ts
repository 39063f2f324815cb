import { z } from 'zod';

const MAX_ID = 2 ** 31 - 1;

export const itemIdSchema = z.coerce.number().int().min(1).max(MAX_ID);

export const itemPageSchema = z.object({
  after: z.coerce.number().int().min(0).max(MAX_ID).default(0),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

export const itemDraftSchema = z.object({
  // PostgreSQL's text holds any character but NUL.
  name: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\0]*$/),
  price: z.int().min(0).max(1_000_000),
});

export type ItemPage = z.infer<typeof itemPageSchema>;

/** What a client says of an item. */
export type ItemDraft = z.infer<typeof itemDraftSchema>;

export interface Item extends ItemDraft {
  id: number;
}
