import { createContext } from "svelte";

import type { Desk } from "./desk.svelte";

/** The one desk of the window, for every part below App. */
export const [useDesk, provideDesk] = createContext<Desk>();
