export const now = (): number => performance.now();

/** Windows, and the ages of pods, are told by the clock on the wall. */
export const wallMs = (): number => Date.now();
