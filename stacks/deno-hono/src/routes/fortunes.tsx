import { Hono } from "hono";
import type { Database } from "../database.ts";
import { withAdditional } from "../fortunes.ts";
import { fortunesPage, FortunesTable } from "../views/fortunes.tsx";

export const fortunes = (database: Database) =>
  new Hono().get("/fortunes", fortunesPage, async (c) => {
    const fortunes = withAdditional(await database.allFortunes());
    return c.render(<FortunesTable fortunes={fortunes} />);
  });
