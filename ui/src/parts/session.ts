/** The end of a session's id: its head is a time and alike for all. */
export const shortSession = (session: string): string => session.replaceAll("-", "").slice(-4);
