/** An answer of the API server that is not 2xx, with the `reason` and `message` of its Status. */
export class ApiError extends Error {
  readonly code = 'API_ERROR';
  readonly status: number;
  readonly reason: string;
  /** The Status object as it came, or undefined when the body was something else. */
  readonly body: Readonly<Record<string, unknown>> | undefined;

  constructor(request: string, status: number, text: string) {
    const body = parseObject(text);
    const message = typeof body?.['message'] === 'string' ? body['message'] : text;
    super(`${request}: ${status} ${message}`);
    this.status = status;
    this.reason = typeof body?.['reason'] === 'string' ? body['reason'] : '';
    this.body = body;
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
