import { writeFile } from 'node:fs/promises';
import { wrap } from './wrap.ts';

interface Frame {
  readonly atMs: number;
  readonly text: string;
}

const columns = 118;
const glyphWidth = 8.4;
const lineHeight = 19;
const margin = 16;
/** Nobody wants to watch a picture stand still. */
const longestPauseMs = 1_500;
const shortestFrameMs = 200;
const lastFrameMs = 5_000;

const colours: Readonly<Record<string, string>> = { 2: '#8b949e', 32: '#3fb950', 33: '#d29922' };

/** What a terminal showed, as an SVG that plays it over and over. */
export class Recording {
  readonly #now: () => number;
  readonly #frames: Frame[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  add(text: string): void {
    const atMs = this.#now();
    const last = this.#frames.at(-1);
    if (last?.text === text) return;
    // A picture that is replaced at once would only flicker.
    if (last && atMs - last.atMs < shortestFrameMs) this.#frames.pop();
    this.#frames.push({ atMs: last && atMs - last.atMs < shortestFrameMs ? last.atMs : atMs, text });
  }

  async save(file: string): Promise<void> {
    await writeFile(file, this.render());
  }

  render(): string {
    const frames = this.#frames.map(({ text }) => text.split('\n').flatMap((line) => wrap(line, columns)));
    const rows = Math.max(1, ...frames.map(({ length }) => length));
    const width = Math.ceil(columns * glyphWidth + 2 * margin);
    const height = rows * lineHeight + 2 * margin;
    const lengths = this.#lengths();
    const total = lengths.reduce((sum, ms) => sum + ms, 0);
    let passed = 0;
    const steps = lengths.map((ms, index) => {
      const percent = ((passed / total) * 100).toFixed(3);
      passed += ms;
      return `${percent}%{transform:translateY(-${index * height}px)}`;
    });
    const pictures = frames.map((lines, index) => picture(lines, index * height));
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
      '<title>A recording of a terminal</title>',
      '<style>',
      'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}',
      `.reel{animation:reel ${(total / 1000).toFixed(1)}s step-end infinite}`,
      `@keyframes reel{${steps.join('')}}`,
      '</style>',
      `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
      `<g class="reel">`,
      ...pictures,
      '</g>',
      '</svg>',
      '',
    ].join('\n');
  }

  #lengths(): number[] {
    return this.#frames.map(({ atMs }, index) => {
      const next = this.#frames[index + 1];
      return next ? Math.min(next.atMs - atMs, longestPauseMs) : lastFrameMs;
    });
  }
}

function picture(lines: readonly string[], top: number): string {
  const texts = lines.map(
    (line, index) =>
      `<text x="${margin}" y="${top + margin + (index + 1) * lineHeight - 5}">${spans(line)}</text>`,
  );
  return texts.join('\n');
}

/** Colours as the terminal would show them. */
function spans(line: string): string {
  // oxlint-disable-next-line no-control-regex -- what a terminal is told to do begins with one
  const pieces = line.split(/\u001b\[(\d+)m/);
  let colour: string | undefined;
  return pieces
    .map((piece, index) => {
      if (index % 2 === 1) {
        colour = colours[piece];
        return '';
      }
      if (piece === '') return '';
      return colour ? `<tspan fill="${colour}">${escape(piece)}</tspan>` : escape(piece);
    })
    .join('');
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
