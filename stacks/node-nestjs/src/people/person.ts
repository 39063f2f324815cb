import { z } from 'zod';

export const personSchema = z.object({
  name: z.string(),
  username: z.string(),
});

export type Person = z.infer<typeof personSchema>;
