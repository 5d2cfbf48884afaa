import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

// The oldest engine that the window meets is WebKitGTK 2.50; light-dark(), subgrid and container queries stay as written.
const oldestEngine = "safari18.2";

export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  clearScreen: false,
  // A test reads docs/testing.md, which lies beside this folder.
  server: { port: 1420, strictPort: true, host: "127.0.0.1", fs: { allow: [".."] } },
  build: { target: oldestEngine, cssTarget: oldestEngine, outDir: "dist", emptyOutDir: true, sourcemap: false, assetsInlineLimit: 0 },
  test: { environment: "jsdom", include: ["src/**/*.test.ts"] },
});
