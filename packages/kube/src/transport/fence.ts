import type { Dispatcher } from 'undici';
import { FenceClosedError } from '../errors.ts';

/**
 * Asks `open` as late as it can be asked: when undici has a connected socket in hand and is about to write the
 * request to it. Checked any earlier, a process frozen while it connects would write after waking.
 */
export function fenced(dispatcher: Dispatcher, open: () => boolean, request: string): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart(controller, context) {
          handler.onRequestStart?.(controller, context);
          if (!open()) {
            controller.abort(new FenceClosedError(request));
          }
        },
        onRequestUpgrade: (controller, status, headers, socket) =>
          handler.onRequestUpgrade?.(controller, status, headers, socket),
        onResponseStart: (controller, status, headers, message) =>
          handler.onResponseStart?.(controller, status, headers, message),
        onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
        onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
        onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
      }),
  );
}
