import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { VERSIONS } from './versions.ts';

const goMod = (module: string) => readFileSync(new URL(`./go/${module}/go.mod`, import.meta.url), 'utf8');

describe('the pinned versions', () => {
  it.each([
    ['kubernetes', `k8s.io/kubernetes v${VERSIONS.kubernetes}`],
    ['etcd', `go.etcd.io/etcd/server/v3 v${VERSIONS.etcd}`],
    ['kwok', `sigs.k8s.io/kwok v${VERSIONS.kwok}`],
    ['helm', `helm.sh/helm/v3 v${VERSIONS.helm}`],
  ])('are those of the Go module of %s', (module, requirement) => {
    expect(goMod(module).match(/^require (\S+ \S+)$/m)?.[1]).toBe(requirement);
  });

  it('are those of the Go module of karpenter, beside what its main.go uses', () => {
    expect(goMod('karpenter')).toContain(`\tsigs.k8s.io/karpenter v${VERSIONS.karpenter}\n`);
  });

  it('of the staging modules of Kubernetes follow its own', () => {
    const staging = VERSIONS.kubernetes.replace(/^1/, 'v0');
    const replaced = [...goMod('kubernetes').matchAll(/(k8s\.io\/\S+) => \1 (\S+)/g)].map(
      ([, , version]) => version,
    );
    expect(replaced.length).toBeGreaterThan(20);
    expect(new Set(replaced)).toEqual(new Set([staging]));
  });

  it('name a Go that every module builds with', () => {
    for (const module of ['kubernetes', 'etcd', 'kwok', 'helm', 'karpenter']) {
      const wanted = /^go (\d+)\.(\d+)/m.exec(goMod(module));
      expect(VERSIONS.go).toMatch(new RegExp(`^${wanted?.[1]}\\.${wanted?.[2]}\\.`));
    }
  });
});
