import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ALTERNATIVES, VERSIONS, versionOf } from './versions.ts';

const goMod = (module: string) => readFileSync(new URL(`./go/${module}/go.mod`, import.meta.url), 'utf8');

describe('the pinned versions', () => {
  it.each([
    ['kubernetes', `k8s.io/kubernetes v${VERSIONS.kubernetes}`],
    ['etcd', `go.etcd.io/etcd/server/v3 v${VERSIONS.etcd}`],
    ['kwok', `sigs.k8s.io/kwok v${VERSIONS.kwok}`],
    ['metrics-server', `sigs.k8s.io/metrics-server v${VERSIONS['metrics-server']}`],
    ['helm', `helm.sh/helm/v3 v${VERSIONS.helm}`],
    ['helm-4', `helm.sh/helm/v4 v${ALTERNATIVES['helm-4'].version}`],
    ['kubernetes-1.30', `k8s.io/kubernetes v${ALTERNATIVES['kubernetes-1.30'].version}`],
  ])('are those of the Go module of %s', (module, requirement) => {
    expect(goMod(module).match(/^require (\S+ \S+)$/m)?.[1]).toBe(requirement);
  });

  it.each([
    ['karpenter', `sigs.k8s.io/karpenter v${VERSIONS.karpenter}`],
    ['cert-manager', `github.com/cert-manager/cert-manager v${VERSIONS['cert-manager']}`],
  ])('are those of the Go module of %s, beside what its main.go uses', (module, requirement) => {
    expect(goMod(module)).toContain(`\t${requirement}\n`);
  });

  it.each([
    ['kubernetes', VERSIONS.kubernetes],
    ['kubernetes-1.30', ALTERNATIVES['kubernetes-1.30'].version],
  ])('of the staging modules of %s follow its own', (module, version) => {
    const staging = version.replace(/^1/, 'v0');
    const replaced = [...goMod(module).matchAll(/(k8s\.io\/\S+) => \1 (\S+)/g)].map(
      ([, , followed]) => followed,
    );
    expect(replaced.length).toBeGreaterThan(20);
    expect(new Set(replaced)).toEqual(new Set([staging]));
  });

  it('name a Go that every module builds with', () => {
    for (const module of [
      'kubernetes',
      'kubernetes-1.30',
      'etcd',
      'kwok',
      'helm',
      'helm-4',
      'karpenter',
      'cert-manager',
      'metrics-server',
    ]) {
      const wanted = /^go (\d+)\.(\d+)/m.exec(goMod(module));
      expect(VERSIONS.go).toMatch(new RegExp(`^${wanted?.[1]}\\.${wanted?.[2]}\\.`));
    }
  });
  it.each(['', 'charts/controller/', 'charts/webhook/', 'charts/redis/'])(
    'have the oldest Kubernetes that the chart in %p allows',
    (chart) => {
      const file = new URL(`../../charts/spotalis/${chart}Chart.yaml`, import.meta.url);
      const oldest = /^kubeVersion: ">=(\d+\.\d+)\.0-0"$/m.exec(readFileSync(file, 'utf8'))?.[1];
      expect(Object.keys(ALTERNATIVES)).toContain(`kubernetes-${oldest}`);
      expect(ALTERNATIVES['kubernetes-1.30'].version).toMatch(new RegExp(`^${oldest}\\.`));
    },
  );
});

describe('another version', () => {
  const played = process.env['SPOTALIS_TEST_WITH'];
  afterEach(() => {
    if (played === undefined) delete process.env['SPOTALIS_TEST_WITH'];
    else process.env['SPOTALIS_TEST_WITH'] = played;
  });

  it('takes the place of the usual one of its project, and of no other', () => {
    process.env['SPOTALIS_TEST_WITH'] = 'helm-4';
    expect(versionOf('helm')).toBe(ALTERNATIVES['helm-4'].version);
    expect(versionOf('kubernetes')).toBe(VERSIONS.kubernetes);
    process.env['SPOTALIS_TEST_WITH'] = '';
    expect(versionOf('helm')).toBe(VERSIONS.helm);
  });

  it('that nobody knows is refused', () => {
    process.env['SPOTALIS_TEST_WITH'] = 'helm-5';
    expect(() => versionOf('helm')).toThrow("there is no 'helm-5': use kubernetes-1.30");
  });
});
