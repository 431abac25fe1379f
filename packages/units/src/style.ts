export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const sgr = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
const same = (text: string): string => text;

const coloured: Style = { good: sgr(32), bad: sgr(33), faint: sgr(2), strong: sgr(1) };
export const plain: Style = { good: same, bad: same, faint: same, strong: same };

/** https://no-color.org: any value but the empty one. */
export function styleFor(
  isTerminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Style {
  const refused = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return isTerminal && !refused ? coloured : plain;
}
