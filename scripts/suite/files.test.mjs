import { describe, expect, it } from '@jest/globals';
import { requirementsOf } from './files.mjs';

describe('what a file of tests on real parts says of itself', () => {
  it.each([
    { text: "import 'x';", needs: ['redis', 'control-plane'] },
    { text: '/** Only this. @needs redis */\nimport 1', needs: ['redis'] },
    {
      text: '/**\n * @needs helm control-plane\n * and more\n */',
      needs: ['helm', 'control-plane'],
    },
    { text: '/** @needs nothing */', needs: [] },
    {
      text: '/** @needs redis helm @also helm-4 redis-8.0 */',
      needs: ['redis', 'helm'],
      also: ['helm-4', 'redis-8.0'],
    },
    { text: "import 'x';\n/** @needs helm */", needs: ['redis', 'control-plane'] },
    {
      text: '/**\n * @needs redis\n * @starved 500 pods\n * in 2 s\n */',
      needs: ['redis'],
      starved: '500 pods in 2 s',
    },
  ])('$text', ({ text, ...requirements }) => {
    expect(requirementsOf(text)).toEqual(requirements);
  });
});
