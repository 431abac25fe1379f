import { stripVTControlCharacters } from 'node:util';

/** Draws each frame over the one before it. */
export class Screen {
  #before = '';

  draw(frame: string): void {
    if (frame === this.#before) return;
    const lines = this.#before === '' ? 0 : this.#height(this.#before);
    const back = lines === 0 ? '' : `\u001b[${lines}A\u001b[0J`;
    process.stdout.write(`${back}${frame}\n`);
    this.#before = frame;
  }

  /** In lines of the terminal: long ones take several. */
  #height(frame: string): number {
    const columns = process.stdout.columns || 80;
    const shown = frame.split('\n').map((line) => stripVTControlCharacters(line).length);
    return shown.reduce((sum, length) => sum + Math.max(1, Math.ceil(length / columns)), 0);
  }
}
