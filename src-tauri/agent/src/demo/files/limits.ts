import { readFileSync } from "node:fs";
import { parse } from "smol-toml";

export type Limits = { orders: { per_minute: number; burst: number; max_items: number } };

export const limits = parse(readFileSync("config/current/limits.toml", "utf8")) as unknown as Limits;

const seen = new Map<string, number[]>();

export function withinLimits(address: string, now = Date.now()): boolean {
  const recent = (seen.get(address) ?? []).filter((at) => now - at < 60_000);
  recent.push(now);
  seen.set(address, recent);
  return recent.length <= limits.orders.per_minute;
}
