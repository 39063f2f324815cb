import { jsxRenderer } from "hono/jsx-renderer";
import type { Fortune } from "../database.ts";

/** The page around what a route renders. */
export const fortunesPage = jsxRenderer(({ children }) => (
  <html>
    <head>
      <title>Fortunes</title>
    </head>
    <body>{children}</body>
  </html>
));

export const FortunesTable = ({ fortunes }: { fortunes: Fortune[] }) => (
  <table>
    <tr>
      <th>id</th>
      <th>message</th>
    </tr>
    {fortunes.map(({ id, message }) => (
      <tr>
        <td>{id}</td>
        <td>{message}</td>
      </tr>
    ))}
  </table>
);
