/** The gate's time, kept by this machine's steady clock between snapshots, so that a set wall clock moves no deadline. Steps once a second. */
export class Clock {
  /** Unix milliseconds, renewed each second. */
  now = $state(Date.now());

  #gateMs = Date.now();
  #steadyMs = performance.now();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Takes the gate's time as of this moment. */
  set(gateNowMs: number): void {
    this.#gateMs = gateNowMs;
    this.#steadyMs = performance.now();
    this.tick();
  }

  /** The gate's time to the millisecond. */
  exact(): number {
    return this.#gateMs + (performance.now() - this.#steadyMs);
  }

  tick(): void {
    this.now = this.exact();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.tick(), 1_000);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
