/** `612 bytes`, `4.2 kB`, `1.3 MB`: decimal units, one figure after the point. */
export function byteSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = bytes / 1_000;
  let unit = 0;
  while (size >= 999.95 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size.toFixed(1)} ${units[unit]}`;
}
