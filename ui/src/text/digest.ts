/** The 64 hex digits of `sha256:…` in sixteen groups of four. Anything else comes back as one group, unaltered. */
export function digestGroups(digest: string): string[] {
  const hex = digest.startsWith("sha256:") ? digest.slice("sha256:".length) : digest;
  return /^[0-9a-f]{64}$/.test(hex) ? (hex.match(/.{4}/g) ?? [hex]) : [hex];
}

/** First and last two groups: enough to compare at a glance, with the whole beside it. */
export function shortDigest(digest: string): string {
  const groups = digestGroups(digest);
  return groups.length < 16 ? groups.join(" ") : `${groups.slice(0, 2).join(" ")} … ${groups.slice(-2).join(" ")}`;
}
