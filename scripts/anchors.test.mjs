import { describe, expect, it } from '@jest/globals';
import { applied, placeOf } from './anchors.mjs';

const gate = 'packages/core/src/gate.ts';
const text = `const TOLERATED = 3;

export const gates: readonly Gate[] = [
  paused,
  halfOpen,
];

export class Gates {
  readonly #open = true;

  async #ask(
    pod: Pod,
    by: string,
  ): Promise<Answer> {
    if (pod.ready && this.#by(bypass)) return 'yes';
    return 'no';
  }

  tell(pod: Pod): string {
    return this.#ask(pod, 'no');
  }
}
`;
const sources = new Map([
  [gate, text],
  ['packages/ledger/src/redis/seePod-8.lua', "local entry = redis.call('HGET', KEYS[1])\n"],
]);

const found = (anchor, among = sources) => {
  const { path, from, to } = placeOf(anchor, among);
  return among.get(path).slice(from, to);
};

describe('an anchor', () => {
  it.each([
    { in: 'TOLERATED', find: '3', text: '3' },
    { in: 'gates', find: 'paused, halfOpen]', text: 'paused,\n  halfOpen,\n]' },
    { in: '#ask', find: "return 'no'", text: "return 'no'" },
    { in: '#ask', find: 'by: string)', text: 'by: string,\n  )' },
    { in: 'Gates', find: '#open = true', text: '#open = true' },
    { in: 'tell', find: 'this.#ask', text: 'this.#ask' },
    { in: 'seePod', find: "call('HGET'", text: "call('HGET'" },
  ])('finds $find in $in', ({ text: place, ...anchor }) => {
    expect(found(anchor).replaceAll(/\s+/g, ' ')).toBe(place.replaceAll(/\s+/g, ' '));
  });

  it('holds when the code moves to another file and is formatted in another way', () => {
    const anchor = { in: '#ask', find: "if (pod.ready && this.#by(bypass)) return 'yes';" };
    const moved = text
      .replace('pod.ready &&', 'pod.ready &&\n     ')
      .replace('(bypass)', '(\n        bypass,\n      )');
    expect(found(anchor, new Map([['packages/kube/src/other.ts', moved]]))).toContain('bypass,\n      )');
  });

  it.each([
    { in: 'tell', find: "return 'no'", because: 'it is in another declaration', times: 0 },
    { in: 'TOLERATED', find: 'paused', because: 'a declaration ends with its indentation', times: 0 },
    { in: 'Gates', find: 'by(by', because: 'words are whole', times: 0 },
    { in: 'Gates', find: 'return', because: 'there are several', times: 3 },
    { in: 'nothing', find: 'return', because: 'nobody declares it', times: 0 },
  ])('does not lead to $find in $in, as $because', ({ times, ...anchor }) => {
    expect(() => placeOf(anchor, sources)).toThrow(
      `${anchor.in} has '${anchor.find}' ${times} times, not once`,
    );
  });

  it('that leads into several files names them', () => {
    const twice = new Map([...sources, ['packages/core/src/copy.ts', text]]);
    expect(() => placeOf({ in: 'TOLERATED', find: '3' }, twice)).toThrow(
      `${gate}, packages/core/src/copy.ts`,
    );
  });
});

describe('edits', () => {
  it('are applied one after another, and leave the sources as they are', () => {
    const edits = [
      { in: 'TOLERATED', find: '3', replace: '4 + 4' },
      { in: 'TOLERATED', find: '4 + 4', replace: "'$&'" },
    ];
    expect(applied(edits, sources)).toEqual(new Map([[gate, text.replace('3', () => "'$&'")]]));
    expect(sources.get(gate)).toBe(text);
  });
});
