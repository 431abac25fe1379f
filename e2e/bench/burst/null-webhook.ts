/**
 * What the product is compared with: the same HTTPS server, app and body reader, and an answer that takes no
 * deciding. Arguments: port, directory with tls.crt and tls.key.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerErrors,
  CertificateFiles,
  createApp,
  createLogger,
  HttpServer,
  readBody,
} from '@spotalis/runtime';

interface Review {
  readonly request: { readonly uid: string };
}

const [port, certDir] = process.argv.slice(2);
if (port === undefined || certDir === undefined) throw new Error('usage: null-webhook.ts PORT CERT_DIR');

async function allow(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await readBody(request, { contentType: 'application/json' });
  const review: Review = JSON.parse(text.toString('utf8'));
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: review.request.uid, allowed: true },
  });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

const logger = createLogger({ service: 'null-webhook', level: 'warn', format: 'text' });
const app = createApp();
app.post('/mutate', (request, response) => allow(request, response));
answerErrors(app, logger);

const certificates = new CertificateFiles({
  directory: certDir,
  rejected: (error) => logger.error('certificate rejected', { error }),
});
await certificates.start();
const name = 'null-webhook';
const server = new HttpServer({ name, port: Number(port), handler: app, certificates, logger });
await server.start();
