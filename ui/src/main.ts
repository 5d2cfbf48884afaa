import { mount } from "svelte";

import App from "./App.svelte";
import "./styles/index.css";

const target = document.getElementById("placet");
if (target === null) throw new Error("index.html has no place for the window");
mount(App, { target });
