/** Prints what our agents are and how they speak, directly and by a proxy, with a server that would rather have HTTP/2. */
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { connect } from 'node:net';
import { Agent, ProxyAgent } from 'undici';
import { Agents } from '../../../packages/kube/src/transport/agents.ts';
import { createAuthority, issueLeaf } from '../../../packages/runtime/src/certificates/issue.ts';

for (const made of [Agent, ProxyAgent])
  for (let type = made; type.name !== ''; type = Object.getPrototypeOf(type))
    console.log(type.name, Object.getOwnPropertyNames(type.prototype).toSorted().join(' '));

const nowMs = Date.now();
const validity = { notBeforeMs: nowMs - 60_000, notAfterMs: nowMs + 3_600_000 };
const authority = await createAuthority({ commonName: 'ca', ...validity });
const leaf = await issueLeaf(authority, { names: ['localhost'], ...validity });
const offers = { allowHTTP1: true, ALPNProtocols: ['h2', 'http/1.1'] };
const server = createSecureServer({ ...leaf, ...offers }, (request, response) =>
  response.end(`HTTP/${request.httpVersion}, agreed on ${request.socket.alpnProtocol}`),
);
const proxy = createServer().on('connect', (request, socket) => {
  const [host, port] = request.url.split(':');
  const onward = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
});
for (const one of [server, proxy]) await new Promise((resolve) => one.listen(0, 'localhost', resolve));

const origin = `https://localhost:${server.address().port}`;
for (const proxyUrl of [undefined, `http://localhost:${proxy.address().port}`]) {
  const agents = new Agents({ connections: 1, proxyUrl });
  for (const dispatcher of Object.values(agents.for({ ca: authority.cert }))) {
    const { statusCode, body } = await dispatcher.request({ origin, path: '/', method: 'GET' });
    console.log(proxyUrl === undefined ? 'directly' : 'by proxy', statusCode, await body.text());
  }
  await agents.destroy();
}
console.log('done');
process.exit();
