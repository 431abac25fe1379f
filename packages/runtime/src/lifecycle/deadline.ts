/** Settles with the work, or rejects with what `late` makes once the time is over. The work itself goes on. */
export async function within<T>(
  deadlineMs: number,
  late: () => Error,
  work: () => Promise<T> | T,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const alarm = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), deadlineMs);
  });
  try {
    return await Promise.race([Promise.resolve().then(work), alarm]);
  } finally {
    clearTimeout(timer);
  }
}
