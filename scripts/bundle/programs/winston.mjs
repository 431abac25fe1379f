/** Prints what our logger writes into a stream that takes one line at a time. */
import { Writable } from 'node:stream';
import { createLogger } from '../../../packages/runtime/src/logging/logger.ts';

const written = [];
const all = 51;
const stream = new Writable({
  highWaterMark: 1,
  write(line, _, next) {
    written.push(String(line));
    if (written.length === all) console.log(`${written.join('')}done`);
    setImmediate(next);
  },
});
const logger = createLogger({ service: 'a', level: 'info', format: 'json', stream, now: () => 0 });
logger.debug('too much');
logger.child({ pod: 'p' }).warn('look', { error: 3 });
logger.setLevel('debug');
for (let turn = 1; turn < all; turn++) logger.debug('turn', { turn });
