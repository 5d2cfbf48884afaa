import type { Backend } from "./backend";
import { insideTauri, tauri } from "./tauri";

/** The gate behind the window; in a plain browser the demonstration, and only where the address asks for it. */
export async function chooseBackend(address: URL): Promise<Backend | undefined> {
  if (insideTauri()) return tauri;
  if (!address.searchParams.has("demo")) return undefined;
  const { DemoBackend } = await import("./demo");
  return new DemoBackend(address.searchParams.get("demo") || "plain");
}

export * from "./agent";
export * from "./clients";
export * from "./settings";
export * from "./types";
export { errorBody, type Backend, type Unlisten } from "./backend";
