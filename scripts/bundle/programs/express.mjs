/** Prints what a client gets of an app by our own settings, for each way in which the services answer. */
import { once } from 'node:events';
import { createApp } from '../../../packages/runtime/src/http/app.ts';

const app = createApp();
app.get('/json', (_, response) => response.json({ pods: 3 }));
app.get('/html', (_, response) => response.type('html').send('<p>ä</p>'));
app.get('/text', (_, response) => response.type('text/plain').send('ä'));
app.get('/bytes', (_, response) => response.send(Buffer.from('ab')));
app.get('/string', (_, response) => response.send('plain'));
app.get('/none', (_, response) => response.sendStatus(404));

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
for (const path of ['json', 'html', 'text', 'bytes', 'string', 'none']) {
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/${path}`);
  console.log(path, answer.status, answer.headers.get('content-type'), await answer.text());
}
server.close();
server.closeAllConnections();
console.log('done');
