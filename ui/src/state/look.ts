import type { Remembered } from "./memory";

/** The theme is a class and the text size one number on the root; every size follows it in rem. */
export function applyLook({ theme, textSize }: Pick<Remembered, "theme" | "textSize">): void {
  const root = document.documentElement;
  root.classList.toggle("light", theme === "light");
  root.classList.toggle("dark", theme === "dark");
  const size = textSize === 100 ? "" : `${textSize}%`;
  if (root.style.fontSize === size) return;
  root.style.fontSize = size;
  // Engines do not look again at container queries in rem when the root's size changes, but do when a container's width does.
  document.body.style.inlineSize = "calc(100% - 1px)";
  void document.body.offsetWidth;
  document.body.style.inlineSize = "";
}
