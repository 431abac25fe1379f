import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, asError, ConnectionError, type StatusBody } from '../errors.ts';
import type { OpenStream } from '../transport/attempt.ts';
import { LineCutter } from './lines.ts';

export interface WatchEvent<R> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: R;
}

/** Longest stretch of parsing before other work gets its turn. */
const SLICE_MS = 5;

/**
 * The events of one watch stream, but for lines that `skips` wants to have skipped. Returns when the server ends it,
 * cleanly or not; throws ApiError for an ERROR event and ConnectionError for a line that is not an event. Gives the
 * event loop back every few milliseconds.
 */
export async function* eventsOf<R>(
  stream: OpenStream,
  title: string,
  skips: (line: string) => boolean = () => false,
): AsyncGenerator<WatchEvent<R>> {
  const lines = new LineCutter();
  let sliceEndMs = performance.now() + SLICE_MS;
  try {
    for await (const chunk of stream.body) {
      for (const line of lines.push(chunk)) {
        if (line !== '' && !skips(line)) {
          yield parseEvent(line, title);
        }
        if (performance.now() >= sliceEndMs) {
          await nextTurn();
          sliceEndMs = performance.now() + SLICE_MS;
        }
      }
    }
  } catch (thrown) {
    if (thrown instanceof ApiError || thrown instanceof ConnectionError) {
      throw thrown;
    }
    // Reset or aborted: for a watch the same as closed. The next request shows whether anything is wrong.
  } finally {
    stream.close();
  }
}

function parseEvent<R>(line: string, title: string): WatchEvent<R> {
  let event: { readonly type: string; readonly object: R & StatusBody };
  try {
    event = JSON.parse(line);
  } catch (thrown) {
    throw new ConnectionError(title, asError(thrown));
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type: event.type, object: event.object };
    case 'ERROR': {
      const body: StatusBody = event.object;
      throw new ApiError({ status: body.code ?? 500, body, request: `${title} (in the stream)` });
    }
    default:
      throw new ConnectionError(title, new Error(`unknown watch event type ${event.type}`));
  }
}
