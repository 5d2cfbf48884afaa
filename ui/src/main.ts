import { mount } from "svelte";

import App from "./App.svelte";
import { applyLook } from "./state/look";
import { recall } from "./state/memory";
import "./styles/index.css";

const target = document.getElementById("placet");
if (target === null) throw new Error("index.html has no place for the window");
applyLook(recall());
mount(App, { target });
