import type { Configuration } from '@spotalis/core';

/** Hears which keys of the configuration changed. */
type Listener = (values: Configuration, keys: readonly string[]) => void;

/** Changes of the configuration while the service runs, for whoever goes by it. */
export class Reloads {
  readonly #listeners: Listener[] = [];

  /** For as long as the service runs. */
  follow(listener: Listener): void {
    this.#listeners.push(listener);
  }

  tell(values: Configuration, keys: readonly string[]): void {
    for (const listener of this.#listeners) listener(values, keys);
  }
}
