import { describe, expect, it } from '@jest/globals';
import { requirementsOf } from './files.mjs';

describe('what a file of tests on real parts says of itself', () => {
  it.each([
    { text: "import 'x';", needs: ['redis', 'control-plane'], alone: false },
    { text: '/** Only this. @needs redis */\nimport 1', needs: ['redis'], alone: false },
    {
      text: '/**\n * @needs helm control-plane\n * @alone it measures\n */',
      needs: ['helm', 'control-plane'],
      alone: true,
    },
    { text: '/** @needs nothing */', needs: [], alone: false },
    { text: "import 'x';\n/** @needs helm */", needs: ['redis', 'control-plane'], alone: false },
    {
      text: '/**\n * @needs redis\n * @starved 500 pods\n * in 2 s\n */',
      needs: ['redis'],
      alone: false,
      starved: '500 pods in 2 s',
    },
  ])('$text', ({ text, ...requirements }) => {
    expect(requirementsOf(text)).toEqual(requirements);
  });
});
