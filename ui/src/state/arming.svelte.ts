/** How long a card takes no answer after it appeared or changed, and how long a grave one must be held. Milliseconds; `--arm` in tokens.css shows the first. */
export const ARM_MS = 500;
export const ARM_GRAVE_MS = 1_000;
export const HOLD_MS = 1_500;

export type Decision = "approve" | "deny" | "approveFor" | "denyAndTell";

/** Time and timers from outside, so that tests own them. */
export interface Steady {
  now(): number;
  later(run: () => void, ms: number): () => void;
}

const machineTime: Steady = {
  now: () => performance.now(),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * The guard against answering by accident. A card is `unshown` until the gate knows that it is on the screen, then `arming`, then `ready`.
 * An answer needs a press that began while ready and was let go on the same control; approving a grave card needs it held.
 */
export class Arming {
  phase = $state<"unshown" | "arming" | "ready">("unshown");
  /** How long this card arms, for the line along the buttons' foot. */
  armMs = $state(ARM_MS);
  grave = $state(false);
  /** The answer that is being held. */
  holding = $state<Decision | undefined>(undefined);

  #pressed: { decision: Decision; by: string } | undefined;
  #stopArming: () => void = () => undefined;
  #stopHolding: () => void = () => undefined;
  #ignoreFirstPointer = false;

  constructor(private readonly steady: Steady = machineTime) {}

  /** Nothing is on the screen that could be answered. */
  clear(): void {
    this.#letGo();
    this.#stopArming();
    this.phase = "unshown";
  }

  /** The card is on the screen, or something under the pointer or the focus changed: count from the start. */
  arm(grave: boolean): void {
    this.clear();
    this.grave = grave;
    this.armMs = grave ? ARM_GRAVE_MS : ARM_MS;
    this.phase = "arming";
    this.#stopArming = this.steady.later(() => {
      this.phase = "ready";
    }, this.armMs);
  }

  /** As `arm`, for a card that is already known to be on the screen. */
  rearm(): void {
    if (this.phase !== "unshown") this.arm(this.grave);
  }

  /** The window came to the front: the first thing the pointer does was meant for bringing it there. */
  windowFocused(): void {
    this.#ignoreFirstPointer = true;
    this.rearm();
  }

  /** The pointer moved or went down; says whether a press may count. */
  pointerMayPress(isDown: boolean): boolean {
    const ignored = this.#ignoreFirstPointer && isDown;
    this.#ignoreFirstPointer = false;
    return !ignored;
  }

  needsHold(decision: Decision): boolean {
    return decision === "approve" && this.grave;
  }

  /** A control goes down. `by` names the pointer or key; `fire` runs at once for a hold that lasts, otherwise on `release`. */
  press(decision: Decision, by: string, fire: () => void): void {
    this.#letGo();
    if (this.phase !== "ready") return;
    this.#pressed = { decision, by };
    if (!this.needsHold(decision)) return;
    this.holding = decision;
    this.#stopHolding = this.steady.later(() => {
      this.#letGo();
      fire();
    }, HOLD_MS);
  }

  /** The control comes up again. True: the answer counts. A hold that was cut short counts for nothing. */
  release(decision: Decision, by: string): boolean {
    const pressed = this.#pressed;
    const held = this.holding !== undefined;
    this.#letGo();
    return this.phase === "ready" && !held && pressed?.decision === decision && pressed.by === by;
  }

  /** The press ended elsewhere, or the window lost the focus. */
  abandon(): void {
    this.#letGo();
  }

  #letGo(): void {
    this.#pressed = undefined;
    this.holding = undefined;
    this.#stopHolding();
    this.#stopHolding = () => undefined;
  }
}
