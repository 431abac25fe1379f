/** The work of a start; rejects at once when the service is told to stop, and the work is left behind. */
export async function unlessStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let leave = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(new Error('told to stop before the start was complete'));
    if (signal.aborted) refuse();
    signal.addEventListener('abort', refuse, { once: true });
    leave = () => signal.removeEventListener('abort', refuse);
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    leave();
  }
}
