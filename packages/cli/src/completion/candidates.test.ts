import { describe, expect, it } from '@jest/globals';
import { commands } from '../commands.ts';
import { candidates } from './candidates.ts';

const offline = (): never => {
  throw new Error('no cluster');
};
const offered = (...words: string[]) => candidates(words, commands, offline);

describe('what a shell is offered', () => {
  it('are commands, flags, their values, and kinds', async () => {
    expect(await offered('st')).toEqual(['status']);
    expect(await offered('status', '--al')).toEqual(['--all-namespaces']);
    expect(await offered('status', '-o', '')).toEqual(['wide', 'json', 'yaml']);
    expect(await offered('explain', '')).toEqual(['deployment/', 'statefulset/', 'pod/']);
    expect(await offered('plan', 'd')).toEqual(['deployment/']);
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish', 'kubectl']);
  });

  it('is nothing where the cluster does not answer, or nothing is known', async () => {
    expect(await offered('explain', 'pod/')).toEqual([]);
    expect(await offered('status', '-n', '')).toEqual([]);
    expect(await offered('status', '--kubeconfig', '')).toEqual([]);
    expect(await offered('nonsense', '')).toEqual([]);
  });

  it('are names in the namespace that the line names', async () => {
    const asked: unknown[] = [];
    const list = (_of: object, query: object) => {
      asked.push(query);
      return Promise.resolve({ items: [{ metadata: { name: 'web' } }, { metadata: { name: 'db' } }] });
    };
    const open = (given: ReadonlyMap<string, string>) =>
      ({
        client: { list },
        namespace: given.get('namespace') ?? 'default',
        close: () => Promise.resolve(),
      }) as never;
    expect(await candidates(['plan', '-n', 'shop', 'deployment/w'], commands, open)).toEqual([
      'deployment/web',
    ]);
    expect(asked).toEqual([{ limit: 500, view: 'metadata', namespace: 'shop' }]);
  });
});
