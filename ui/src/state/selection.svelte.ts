/** Which calls are marked for cancelling. */
export class Selection {
  ids = $state.raw<ReadonlySet<string>>(new Set());
  #anchor: string | undefined;

  has(id: string): boolean {
    return this.ids.has(id);
  }

  toggle(id: string): void {
    const ids = new Set(this.ids);
    if (!ids.delete(id)) ids.add(id);
    this.ids = ids;
    this.#anchor = id;
  }

  /** Marks all of them, or none where all were marked. */
  toggleAll(some: readonly string[]): void {
    const ids = new Set(this.ids);
    const all = some.every((id) => ids.has(id));
    for (const id of some) if (all) ids.delete(id);
    else ids.add(id);
    this.ids = ids;
    this.#anchor = some[0];
  }

  /** Marks everything from the last one marked up to here, in the order given. */
  rangeTo(id: string, order: readonly string[]): void {
    const from = order.indexOf(this.#anchor ?? id);
    const to = order.indexOf(id);
    if (to < 0) return;
    const [low, high] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
    this.ids = new Set([...this.ids, ...order.slice(low, high + 1)]);
    this.#anchor = id;
  }

  /** What waits no more cannot be cancelled. */
  drop(id: string): void {
    if (!this.ids.has(id)) return;
    const ids = new Set(this.ids);
    ids.delete(id);
    this.ids = ids;
  }

  clear(): void {
    if (this.ids.size > 0) this.ids = new Set();
    this.#anchor = undefined;
  }
}
