import { expect, test } from "vitest";

import { ARM_GRAVE_MS, ARM_MS, Arming, HOLD_MS, type Steady } from "./arming.svelte";

/** A clock that only the test moves. */
class Hand implements Steady {
  #now = 0;
  #due: { at: number; run: () => void }[] = [];

  now(): number {
    return this.#now;
  }
  later(run: () => void, ms: number): () => void {
    const entry = { at: this.#now + ms, run };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((one) => one !== entry);
    };
  }
  pass(ms: number): void {
    this.#now += ms;
    for (const entry of this.#due.filter((one) => one.at <= this.#now).sort((a, b) => a.at - b.at)) {
      this.#due = this.#due.filter((one) => one !== entry);
      entry.run();
    }
  }
}

function armed(grave = false): [Arming, Hand, () => number] {
  const hand = new Hand();
  const arming = new Arming(hand);
  arming.arm(grave);
  hand.pass(grave ? ARM_GRAVE_MS : ARM_MS);
  return [arming, hand, () => 0];
}

const never = (): never => {
  throw new Error("fired");
};

test("a card that was never shown takes no answer", () => {
  const arming = new Arming(new Hand());
  arming.press("approve", "key a", never);
  expect(arming.release("approve", "key a")).toBe(false);
});

test("an answer counts from the moment that arming is over, not before", () => {
  const hand = new Hand();
  const arming = new Arming(hand);
  arming.arm(false);
  hand.pass(ARM_MS - 1);
  arming.press("deny", "pointer", never);
  expect(arming.release("deny", "pointer")).toBe(false);
  hand.pass(1);
  arming.press("deny", "pointer", never);
  expect(arming.release("deny", "pointer")).toBe(true);
});

test("a press that began while arming does not count when it is let go afterwards", () => {
  const hand = new Hand();
  const arming = new Arming(hand);
  arming.arm(false);
  hand.pass(ARM_MS - 10);
  arming.press("approve", "pointer", never);
  hand.pass(100);
  expect(arming.phase).toBe("ready");
  expect(arming.release("approve", "pointer")).toBe(false);
});

test("a change under the hand begins the count again and forgets the press", () => {
  const [arming, hand] = armed();
  arming.press("approve", "pointer", never);
  arming.arm(false);
  hand.pass(ARM_MS);
  expect(arming.release("approve", "pointer")).toBe(false);
});

test("press and release belong to one control and one pointer or key", () => {
  const [arming] = armed();
  arming.press("approve", "pointer", never);
  expect(arming.release("deny", "pointer")).toBe(false);
  arming.press("approve", "key a", never);
  expect(arming.release("approve", "pointer")).toBe(false);
  arming.press("approve", "pointer", never);
  arming.abandon();
  expect(arming.release("approve", "pointer")).toBe(false);
});

test("one press answers once", () => {
  const [arming] = armed();
  arming.press("deny", "key d", never);
  expect(arming.release("deny", "key d")).toBe(true);
  expect(arming.release("deny", "key d")).toBe(false);
});

test("a grave card arms for longer, and its approval is held", () => {
  const hand = new Hand();
  const arming = new Arming(hand);
  let fired = 0;
  const fire = (): void => {
    fired += 1;
  };
  arming.arm(true);
  hand.pass(ARM_GRAVE_MS - 1);
  expect(arming.phase).toBe("arming");
  hand.pass(1);
  arming.press("approve", "pointer", fire);
  expect(arming.holding).toBe("approve");
  hand.pass(HOLD_MS - 1);
  expect(arming.release("approve", "pointer")).toBe(false);
  hand.pass(HOLD_MS);
  expect(fired).toBe(0);
  arming.press("approve", "pointer", fire);
  hand.pass(HOLD_MS);
  expect(fired).toBe(1);
  expect(arming.release("approve", "pointer")).toBe(false);
});

test("a grave card is denied by a plain press", () => {
  const [arming] = armed(true);
  arming.press("deny", "pointer", never);
  expect(arming.release("deny", "pointer")).toBe(true);
});

test("a hold ends when the card changes", () => {
  const [arming, hand] = armed(true);
  arming.press("approve", "key a", never);
  hand.pass(HOLD_MS - 1);
  arming.arm(true);
  hand.pass(HOLD_MS);
  expect(arming.holding).toBeUndefined();
});

test("the first pointer event after the window came to the front is ignored, and arming begins again", () => {
  const [arming, hand] = armed();
  arming.windowFocused();
  expect(arming.phase).toBe("arming");
  hand.pass(ARM_MS);
  expect(arming.pointerMayPress(true)).toBe(false);
  expect(arming.pointerMayPress(true)).toBe(true);
  arming.windowFocused();
  arming.pointerMayPress(false);
  expect(arming.pointerMayPress(true)).toBe(true);
});

test("what was never on the screen is not armed by a focus", () => {
  const arming = new Arming(new Hand());
  arming.windowFocused();
  arming.rearm();
  expect(arming.phase).toBe("unshown");
});
