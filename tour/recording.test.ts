import { describe, expect, it } from '@jest/globals';
import { Recording } from './recording.ts';

function recorded(frames: readonly (readonly [atMs: number, text: string])[]): string {
  let atMs = 0;
  const recording = new Recording(() => atMs);
  for (const [at, text] of frames) {
    atMs = at;
    recording.add(text);
  }
  return recording.render();
}

const texts = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>(.*)<\/text>/g)].map(([, text]) => text!);

describe('a recording of a terminal', () => {
  it('shows each picture once, one below the other, and turns to it in its time', () => {
    const svg = recorded([
      [0, 'one'],
      [500, 'one'],
      [1_000, 'two'],
    ]);
    expect(texts(svg)).toEqual(['one', 'two']);
    expect(svg).toContain('animation:reel 6.0s');
    expect(svg).toMatch(/0\.000%\{transform:translateY\(-0px\)\}16\.667%\{transform:translateY\(-51px\)\}/);
  });

  it('cuts long pauses short', () => {
    expect(
      recorded([
        [0, 'one'],
        [60_000, 'two'],
      ]),
    ).toContain('animation:reel 6.5s');
  });

  it('leaves out what nobody could have seen', () => {
    const svg = recorded([
      [0, 'one'],
      [1_000, 'flicker'],
      [1_050, 'two'],
    ]);
    expect(texts(svg)).toEqual(['one', 'two']);
  });

  it('keeps colours, and nothing that would break the picture', () => {
    const svg = recorded([[0, '\u001b[32mon target\u001b[0m at <7 & 3>']]);
    expect(texts(svg)).toEqual(['<tspan fill="#3fb950">on target</tspan> at &lt;7 &amp; 3&gt;']);
  });

  it('wraps sentences that are too wide', () => {
    const svg = recorded([[0, 'a sentence '.repeat(20).trim()]]);
    expect(texts(svg).length).toBe(2);
    expect(texts(svg)[1]).toMatch(/^ {2}/);
  });
});
