/** What esbuild does beside bundling, so that a service is small in memory. */
import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { stubs } from './stubs.mjs';

/**
 * An import of a module of Node's reads all that it exports. Of `node:http` that is WebSocket, too, which loads Node's
 * own undici, HTTP/2 and half of their world: 10 MB. What is required is read when it is used.
 */
export const requireBuiltins = {
  name: 'require-builtins',
  setup(bundler) {
    const filter = new RegExp(`^(node:)?(${builtinModules.join('|')})$`);
    bundler.onResolve({ filter }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : { path, external: true },
    );
    bundler.onLoad({ filter, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** client-node's index has every generated API class; credentials, which are all that is used, have a file of their own. */
export const onlyCredentials = {
  name: 'only-credentials',
  setup(bundler) {
    bundler.onResolve({ filter: /^@kubernetes\/client-node$/ }, async (args) => {
      if (args.pluginData === 'resolved') return undefined;
      const { path, errors } = await bundler.resolve(args.path, {
        kind: args.kind,
        resolveDir: args.resolveDir,
        importer: args.importer,
        pluginData: 'resolved',
      });
      return { path: path && join(dirname(path), 'config.js'), errors };
    });
  },
};

/** A Lua script is read from beside its module when run from source; in a bundle its text is inlined. */
export const inlineLua = {
  name: 'inline-lua',
  setup(bundler) {
    bundler.onLoad({ filter: /[\\/]redis[\\/][^\\/]+\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const found = [
        ...source.matchAll(/readFileSync\(new URL\('(.+?\.lua)', import\.meta\.url\), 'utf8'\)/g),
      ];
      let contents = source;
      for (const [call, file] of found) {
        const text = JSON.stringify(await readFile(resolve(dirname(path), file), 'utf8'));
        // As a function: in a replacement text `$'` and the like, common in Lua patterns, have a meaning.
        contents = contents.replace(call, () => text);
      }
      return { contents, loader: 'ts' };
    });
  },
};

const escaped = (text) => text.replaceAll(/[./]/g, '\\$&');

/** Puts each stub in the place of what it stands for. A stub is a module of the namespace `stub`. */
export const putStubs = {
  name: 'put-stubs',
  setup(bundler) {
    const namespace = 'stub';
    for (const { specifier } of stubs) {
      bundler.onResolve({ filter: new RegExp(`^${escaped(specifier)}$`) }, ({ path, resolveDir }) => ({
        path,
        namespace,
        pluginData: resolveDir,
      }));
    }
    bundler.onLoad({ filter: /.*/, namespace }, ({ path, pluginData: resolveDir }) => ({
      contents: stubs.find(({ specifier }) => specifier === path).contents,
      resolveDir,
    }));
  },
};
