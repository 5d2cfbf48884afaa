import { expect, test } from "vitest";

import { plain } from "./spans";
import { leadOf, lineOf, rowLine } from "./subject";

const drawn = ({ lead, main, rest }: ReturnType<typeof lineOf>): string => plain([...lead, ...main, ...rest]);
const item = (lead: string, main: string, kind: string, workspace = "/home/ana/app") => ({ lead: [{ text: lead }], main: [{ text: main }], rest: [], subjects: [{ kind }], workspace });

test("a server and its tool never run into each other", () => {
  expect(drawn(lineOf(item("tracker", "create_comment", "mcp")))).toBe("tracker · create_comment");
  expect(plain(leadOf("mcp", [{ text: "tracker" }], ""))).toBe("tracker · ");
  expect(plain(leadOf("url", [{ text: "https://" }], ""))).toBe("https://");
});

test("a short path stays as it is, a long one within the workspace leaves the workspace out", () => {
  expect(drawn(rowLine(item("/home/ana/app/src/", "a.ts", "path"), "/home/ana"))).toBe("/home/ana/app/src/a.ts");
  expect(drawn(rowLine(item("/tmp/placet-demo-x/orders/migrations/", "0003_drop_coupons.sql", "path", "/tmp/placet-demo-x/orders"), "/root"))).toBe("…/migrations/0003_drop_coupons.sql");
});

test("a path outside the workspace keeps its start, also where the names begin alike", () => {
  const long = "/tmp/placet-demo-x/orders-old/migrations/";
  expect(drawn(rowLine(item(long, "0003_drop_coupons.sql", "path", "/tmp/placet-demo-x/orders"), "/root"))).toBe(`${long}0003_drop_coupons.sql`);
});
