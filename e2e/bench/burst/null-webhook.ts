/**
 * What the product is compared with: the same HTTPS server, app and body reader, and an answer that takes no
 * deciding. Measures itself as the webhook does. Arguments: port, port of the metrics, directory with tls.crt and
 * tls.key.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  answerErrors,
  CertificateFiles,
  createApp,
  createLogger,
  HttpServer,
  Metrics,
  metricsServer,
  readBody,
} from '@spotalis/runtime';
import { admissionSeconds } from '@spotalis/units';

interface Review {
  readonly request: { readonly uid: string };
}

const [port, metricsPort, certDir] = process.argv.slice(2);
if (certDir === undefined) throw new Error('usage: null-webhook.ts PORT METRICS_PORT CERT_DIR');

const metrics = new Metrics();
const seconds = metrics.histogram({
  type: 'histogram',
  name: 'spotalis_admission_duration_seconds',
  labels: ['result'],
  buckets: admissionSeconds,
  help: 'As the webhook measures it.',
});

async function allow(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const beganMs = performance.now();
  const text = await readBody(request, { contentType: 'application/json' });
  const review: Review = JSON.parse(text.toString('utf8'));
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: review.request.uid, allowed: true },
  });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
  seconds.observe({ result: 'left-alone' }, (performance.now() - beganMs) / 1000);
}

const logger = createLogger({ service: 'null-webhook', level: 'warn', format: 'text' });
const app = createApp();
app.use((request, response) => allow(request, response));
answerErrors(app, logger);

const certificates = new CertificateFiles({
  directory: certDir,
  rejected: (error) => logger.error('certificate rejected', { error }),
});
await certificates.start();
const name = 'null-webhook';
const server = new HttpServer({ name, port: Number(port), handler: app, certificates, logger });
await metricsServer({ port: Number(metricsPort), exposition: metrics, logger }).start();
await server.start();
