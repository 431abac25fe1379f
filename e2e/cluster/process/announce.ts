/** Where progress goes when nobody asked for it: the terminal, but never the output. */
export function announce(line: string): void {
  process.stderr.write(`${line}\n`);
}
