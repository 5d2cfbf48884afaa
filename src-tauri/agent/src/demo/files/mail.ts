import type { Order } from "./orders.ts";

// TODO: retry when the mail server is busy
export async function confirm(order: Order): Promise<void> {
  console.log(`mail to ${order.customer}: your order ${order.id}, ${(order.total / 100).toFixed(2)}`);
}
