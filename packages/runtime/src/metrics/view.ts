import type { GaugeSpec, Labels } from '@spotalis/units';

/** One series as it is now. */
export interface Sample<Label extends string> {
  readonly labels: Labels<Label>;
  readonly value: number;
}

const PIECE_LENGTH = 32_768;

/**
 * A metric with its series as Prometheus reads them. All of it at one moment, so that no series is there twice; in
 * pieces outside of the heap, where megabytes come and go at no cost.
 */
export function writeView<Label extends string>(
  { name, help, type, labels: names }: GaugeSpec<Label>,
  samples: Iterable<Sample<Label>>,
): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let piece = `\n# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
  for (const { labels, value } of samples) {
    const pairs = names.map((label) => `${label}="${escaped(labels[label]).replaceAll('"', '\\"')}"`);
    piece += `${name}{${pairs.join(',')}} ${value}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
  }
  pieces.push(Buffer.from(piece));
  return pieces;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
