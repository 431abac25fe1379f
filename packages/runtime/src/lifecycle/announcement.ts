/** A promise and the one who settles it, for events that come from outside. */
export interface Announcement<T> {
  readonly made: Promise<T>;
  make(value: T): void;
}

export function announcement<T>(): Announcement<T> {
  const waiting: ((value: T) => void)[] = [];
  const made = new Promise<T>((resolve) => waiting.push(resolve));
  return {
    made,
    make(value) {
      for (const resolve of waiting) resolve(value);
    },
  };
}
