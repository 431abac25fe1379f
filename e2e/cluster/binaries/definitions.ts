import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from '../cache.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { run } from '../process/run.ts';
import { VERSIONS } from '../versions.ts';
import { findGo } from './go.ts';
import { lineProgress } from './progress.ts';

/** Modules that are only read: each holds the kinds that our charts make objects of. */
const sources = [
  {
    module: `github.com/cert-manager/cert-manager@v${VERSIONS['cert-manager']}`,
    files: ['certificates', 'issuers'].map((kind) => `deploy/crds/cert-manager.io_${kind}.yaml`),
  },
  {
    module: `github.com/prometheus-operator/prometheus-operator@v${VERSIONS.prometheusOperator}`,
    files: ['podmonitors', 'prometheusrules', 'servicemonitors'].map(
      (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
    ),
  },
];

/** CustomResourceDefinitions, as YAML, of other projects whose objects the charts may hold; or why there are none. */
export async function findDefinitions(
  report: (line: string) => void,
): Promise<{ readonly texts: readonly string[] } | { readonly missing: string }> {
  mustBeDeclared('definitions');
  const root = join(cacheDir(), 'go', 'pkg', 'mod');
  const absent = sources.filter(({ module }) => !existsSync(join(root, module)));
  if (absent.length > 0) {
    const progress = lineProgress(report);
    const go = await findGo(progress);
    if ('missing' in go) return go;
    mkdirSync(cacheDir(), { recursive: true });
    const modules = absent.map(({ module }) => module);
    const { ok, stderr } = await progress.during(`fetching ${modules.join(' and ')}`, () =>
      run(go.command, ['mod', 'download', ...modules], go.env, cacheDir()),
    );
    if (!ok) return { missing: `${modules.join(', ')} cannot be fetched (${stderr.trim()})` };
  }
  return {
    texts: sources.flatMap(({ module, files }) =>
      files.map((file) => readFileSync(join(root, module, file), 'utf8')),
    ),
  };
}
