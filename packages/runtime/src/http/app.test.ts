// oxlint-disable oxc/no-async-endpoint-handlers -- express 5 hands a rejection to the error handler
import { afterEach, describe, expect, it } from '@jest/globals';
import { request as openRequest } from 'node:http';
import supertest from 'supertest';
import { MemoryLogger } from '../testing/logger.ts';
import { answerErrors, createApp } from './app.ts';
import { bodyLimitBytes, readBody, readJson } from './body.ts';
import { HttpServer } from './server.ts';

const logger = new MemoryLogger();

function build() {
  const app = createApp();
  app.post('/json', async (request, response) => {
    response.json({ got: await readJson(request) });
  });
  app.post('/small', async (request, response) => {
    const body = await readBody(request, { contentType: 'text/plain', limitBytes: 4, deadlineMs: 50 });
    response.send(body.toString());
  });
  app.get('/bug', () => {
    throw new TypeError('a bug');
  });
  answerErrors(app, logger);
  return app;
}

describe('an app', () => {
  it('answers without etag and x-powered-by', async () => {
    const { headers, body } = await supertest(build()).post('/json').send({ a: 1 });
    expect(body).toEqual({ got: { a: 1 } });
    expect(headers).not.toHaveProperty('etag');
    expect(headers).not.toHaveProperty('x-powered-by');
  });

  it('answers 404 for what it does not serve and 500 without details for a bug', async () => {
    expect((await supertest(build()).get('/other')).body).toEqual({
      code: 'NOT_FOUND',
      message: 'nothing is served at /other',
    });
    const { status, text } = await supertest(build()).get('/bug');
    expect(status).toBe(500);
    expect(text).not.toContain('a bug');
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { path: '/bug', error: { message: 'a bug' } },
    });
  });
});

describe('a body', () => {
  it.each([
    ['of another type', 415, 'text/xml', '<a/>', 'UNSUPPORTED_MEDIA_TYPE'],
    ['without JSON in it', 400, 'application/json', '{', 'BODY_NOT_JSON'],
    [
      'past the limit',
      413,
      'application/json; charset=utf-8',
      ' '.repeat(bodyLimitBytes + 1),
      'BODY_TOO_LARGE',
    ],
  ])('%s is refused with %d', async (_what, status, type, body, code) => {
    const response = await supertest(build()).post('/json').set('Content-Type', type).send(body);
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ code });
  });

  it('exactly at the limit is read', async () => {
    const response = await supertest(build()).post('/small').set('Content-Type', 'text/plain').send('1234');
    expect(response.text).toBe('1234');
  });
});

describe('a body in pieces', () => {
  let server: HttpServer;

  afterEach(() => server.stop());

  const send = async (headers: Readonly<Record<string, string>>, chunks: readonly string[], end: boolean) => {
    server = new HttpServer({ name: 'test', host: '127.0.0.1', port: 0, handler: build(), logger });
    await server.start();
    return new Promise<number | undefined>((resolve, reject) => {
      const request = openRequest({
        port: server.port,
        host: '127.0.0.1',
        method: 'POST',
        path: '/small',
        headers,
      });
      request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      for (const chunk of chunks) request.write(chunk);
      if (end) request.end();
    });
  };

  it('of unannounced length is still limited', async () => {
    expect(await send({ 'Content-Type': 'text/plain' }, ['123', '456'], true)).toBe(413);
  });

  it('that does not come to an end is given up', async () => {
    expect(await send({ 'Content-Type': 'text/plain' }, ['12'], false)).toBe(408);
  });
});
