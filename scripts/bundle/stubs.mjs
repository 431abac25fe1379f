/**
 * What libraries load at once for things that no service does, and what the bundles have instead. It would all stay in
 * memory: undici's index alone brings fetch, WebSockets, mocks and a cache, and with them Node's own copy of undici and
 * its HTTP/2, 8 MB at rest.
 *
 * A stub answers a `specifier`, which leads to `file` otherwise, to its `callers`, each with the names that it takes:
 * `()` calls the whole, `[]` takes by a name that is not fixed, `*` hands it on. stubs.test.mjs holds all of that, and
 * that libraries do the same with the stub and without, so an upgrade that changes what is replaced fails there.
 */
export const stubs = [
  {
    // express's body parsers with their tables of encodings: bodies are read by our own reader.
    specifier: 'body-parser',
    file: 'body-parser/index.js',
    callers: { 'express/lib/express.js': ['json', 'raw', 'text', 'urlencoded'] },
    contents: 'module.exports = {};',
  },
  {
    // A table of every media type: these are the ones that are answered.
    specifier: 'mime-db',
    file: 'mime-db/index.js',
    callers: { 'mime-types/index.js': ['[]', '*'] },
    contents: `module.exports = {
      'application/json': { charset: 'UTF-8', compressible: true, extensions: ['json'] },
      'application/octet-stream': { extensions: ['bin'] },
      'text/html': { compressible: true, extensions: ['html'] },
      'text/plain': { compressible: true, extensions: ['txt'] },
    };`,
  },
  {
    // client-node's generated calls, with a class for each kind of object: only its credentials are used.
    specifier: './gen/index.js',
    file: '@kubernetes/client-node/dist/gen/index.js',
    callers: { '@kubernetes/client-node/dist/config.js': ['createConfiguration', 'ServerConfiguration'] },
    contents: 'module.exports = {};',
  },
  {
    // winston's copy of what Node has.
    specifier: 'readable-stream',
    file: 'readable-stream/readable.js',
    callers: {
      'winston/lib/winston/exception-stream.js': ['Writable'],
      'winston/lib/winston/logger.js': ['Stream', 'Transform'],
      'winston/lib/winston/rejection-stream.js': ['Writable'],
      'winston/lib/winston/tail-file.js': ['Stream'],
      'winston/lib/winston/transports/file.js': ['PassThrough', 'Stream'],
      'winston/lib/winston/transports/http.js': ['Stream'],
    },
    contents: "module.exports = require('node:stream');",
  },
  {
    specifier: 'readable-stream/lib/_stream_writable.js',
    file: 'readable-stream/lib/_stream_writable.js',
    callers: { 'winston-transport/modern.js': ['*', 'call'] },
    contents: "module.exports = require('node:stream').Writable;",
  },
  {
    // client-node's SOCKS proxies: refused when a kubeconfig is read.
    specifier: 'socks-proxy-agent',
    file: 'socks-proxy-agent/dist/index.js',
    callers: { '@kubernetes/client-node/dist/config.js': ['SocksProxyAgent'] },
    contents: 'export const SocksProxyAgent = undefined;',
  },
  {
    specifier: 'socks',
    file: 'socks/build/index.js',
    callers: { '@kubernetes/client-node/dist/config.js': ['SocksClient'] },
    contents: 'export const SocksClient = undefined;',
  },
  {
    // One parser of YAML is enough.
    specifier: 'js-yaml',
    file: 'js-yaml/dist/js-yaml.mjs',
    callers: { '@kubernetes/client-node/dist/config.js': ['load'] },
    contents: "export { parse as load } from 'yaml';",
  },
  {
    specifier: 'undici',
    file: 'undici/index.js',
    callers: {
      '@kubernetes/client-node/dist/config.js': ['Agent', 'ProxyAgent'],
      'packages/kube/src/transport/agents.ts': ['Agent', 'ProxyAgent'],
    },
    contents: `const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
      Object.assign(Dispatcher.prototype, require('undici/lib/api'));
      exports.Agent = require('undici/lib/dispatcher/agent.js');
      exports.ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js');`,
  },
  {
    // HTTP/2 is never negotiated: it is not offered.
    specifier: './client-h2.js',
    file: 'undici/lib/dispatcher/client-h2.js',
    callers: { 'undici/lib/dispatcher/client.js': ['()'] },
    contents: 'module.exports = undefined;',
  },
];
