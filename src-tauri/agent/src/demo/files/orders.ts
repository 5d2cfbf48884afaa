import { randomUUID } from "node:crypto";
import { limits } from "./limits.ts";
import { confirm } from "./mail.ts";

export type Item = { sku: string; count: number; cents: number };
export type Order = { id: string; customer: string; items: Item[]; total: number };

const orders = new Map<string, Order>();

export async function place(input: { customer: string; items: Item[] }): Promise<Order> {
  if (input.items.length > limits.orders.max_items) throw new Error("too many items");
  // TODO: round once at the end, not per item
  const total = input.items.reduce((sum, item) => sum + Math.round(item.count * item.cents), 0);
  const order = { id: randomUUID(), ...input, total };
  orders.set(order.id, order);
  await confirm(order);
  return order;
}

export async function find(id: string): Promise<Order | undefined> {
  return orders.get(id);
}
