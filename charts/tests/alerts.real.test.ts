/** @needs redis control-plane prometheus */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findPrometheus, type Prometheus, promtool, startPrometheus, waitFor } from '@spotalis/cluster';
import { createAuthority, issueLeaf } from '@spotalis/runtime';
import { parse, stringify } from 'yaml';
import { pdb, spotPercentage } from '@spotalis/e2e/testbed';
import { openTestbed, type Testbed } from '@spotalis/e2e/testbed';
import { questions } from './dashboard.ts';
import { type Rule, ruleFile, rules } from './rules.ts';

// As the Debian package where there is none.
const programs = await findPrometheus((line) => process.stdout.write(`${line}\n`));
if ('missing' in programs) process.stdout.write(`the alerts are not tried: ${programs.missing}\n`);
const describeOrSkip = 'missing' in programs ? describe.skip : describe;

function found() {
  if ('missing' in programs) throw new Error(programs.missing);
  return programs;
}

const times = fileURLToPath(new URL('times.promtool.yaml', import.meta.url));
const without = (rule: Rule, key: keyof Rule): Partial<Rule> =>
  Object.fromEntries(Object.entries(rule).filter(([name]) => name !== key));
const alertNames = rules.map(({ alert }) => alert);

describeOrSkip('the alerts, as promtool sees them,', () => {
  let dir: string;

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'alerts-'));
    cpSync(times, join(dir, 'times.yaml'));
    // Every word of the annotations would have to be repeated in each test.
    const bare = (rule: Rule) => without(rule, 'annotations');
    writeFileSync(join(dir, 'rules.yaml'), ruleFile(bare));
  });

  afterAll(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  it('are well-formed', async () => {
    const file = fileURLToPath(new URL('../spotalis/files/alerts.yaml', import.meta.url));
    expect(await promtool(found(), ['check', 'rules', file], dir)).toContain(`${rules.length} rules found`);
  }, 600_000);

  it('fire after their time, and not before', async () => {
    const { tests } = parse(readFileSync(times, 'utf8')) as {
      readonly tests: readonly {
        readonly alert_rule_test: readonly {
          readonly alertname: string;
          readonly exp_alerts: readonly unknown[];
        }[];
      }[];
    };
    const fired = tests
      .flatMap(({ alert_rule_test: each }) => each)
      .filter(({ exp_alerts: expected }) => expected.length > 0)
      .map(({ alertname }) => alertname);
    expect(new Set(fired)).toEqual(new Set(alertNames));
    expect(await promtool(found(), ['test', 'rules', 'times.yaml'], dir)).toContain('SUCCESS');
  });
});

/** An hour is too long for a test: what is to last for an hour lasts for two seconds, and nothing waits. */
function hasty(rule: Rule): Partial<Rule> {
  return { ...without(rule, 'for'), expr: rule.expr.replaceAll('> 3600', '> 2').replaceAll('[1h]', '[2s]') };
}

describeOrSkip('a real Prometheus', () => {
  let testbed: Testbed;
  let prometheus: Prometheus;

  beforeAll(async () => {
    testbed = await openTestbed({ configuration: { rebalance: { minPodAge: '1s', cooldown: '1s' } } });
    const { webhooks, controllers } = testbed.installation;
    const metricsPorts = [...webhooks, ...controllers].map(({ metricsPort }) => metricsPort);
    prometheus = await startPrometheus({ programs: found(), metricsPorts, rules: ruleFile(hasty) });
    await testbed.declare(web);
  }, 180_000);

  afterAll(async () => {
    await prometheus?.stop();
    await testbed?.close();
  });

  const policy = { spotPercentage: 70, minOnDemand: 1 };
  const web = { name: 'web', namespace: 'shop', replicas: 10, policy };

  const isFiring = async (name: string): Promise<boolean> =>
    (await prometheus.firing()).some(({ labels }) => labels.alertname === name);

  /** Not before the fault, and then because of it. */
  async function fires(name: string, fault: () => void | Promise<void>): Promise<void> {
    // On a busy machine an admission may have been late before, which is told for a while.
    await ends(name);
    await fault();
    await waitFor(`${name} to fire`, () => isFiring(name), { timeoutMs: 60_000, intervalMs: 200 });
  }

  async function ends(name: string): Promise<void> {
    await waitFor(`${name} to end`, async () => !(await isFiring(name)), {
      timeoutMs: 60_000,
      intervalMs: 200,
    });
  }

  it('fires nothing while all is well', async () => {
    const workload = await testbed.declare(web);
    await workload.ready(10);
    await waitFor('the leader to be scraped', () => prometheus.count('spotalis_webhook_serving == 1'));
    await waitFor('no alert', async () => (await prometheus.firing()).length === 0);
  }, 60_000);

  /** Nothing drifted yet, nothing was held, and there is capacity. */
  const quiet = new Set(['Workloads off target', 'Why workloads are held', 'Substitutes']);

  it.each(questions.filter(({ title }) => !quiet.has(title)))(
    'has an answer for the dashboard: $title',
    async ({ expr }) => {
      // In a short while a rate over minutes is there, too.
      await waitFor(`an answer to ${expr}`, async () => (await prometheus.count(expr)) > 0);
    },
    60_000,
  );

  it.each(questions.filter(({ title }) => quiet.has(title)))(
    'understands the dashboard: $title',
    async ({ expr }) => {
      expect(await prometheus.count(expr)).toBe(0);
    },
  );

  it('fires SpotalisPolicyInvalid for an annotation that cannot be read', async () => {
    const workload = await testbed.declare({ ...web, name: 'typo' });
    await fires('SpotalisPolicyInvalid', () =>
      workload.patch({ metadata: { annotations: { 'spotalis.io/spot-percentage': 'most' } } }),
    );
    await testbed.cluster.api.delete('Deployment', workload.path);
    await ends('SpotalisPolicyInvalid');
  }, 120_000);

  it('fires SpotalisAdmissionsUnsteered for pods that neither type can take', async () => {
    const key = 'karpenter.sh/capacity-type';
    const terms = [{ matchExpressions: [{ key, operator: 'In', values: ['reserved'] }] }];
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    };
    const workload = await testbed.declare({ ...web, name: 'nowhere' });
    await fires('SpotalisAdmissionsUnsteered', () =>
      workload.patch({ spec: { template: { spec: { affinity } } } }),
    );
    await testbed.cluster.api.delete('Deployment', workload.path);
  }, 120_000);

  it('fires SpotalisDriftLasting and SpotalisMovesBlocked for drift that nothing repairs', async () => {
    const workload = await testbed.declare({ ...web, name: 'held' });
    await workload.ready(10);
    await testbed.cluster.api.apply(pdb('shop', 'held', 10, 'held'));
    await fires('SpotalisDriftLasting', () => workload.patch(spotPercentage(20)));
    await waitFor('SpotalisMovesBlocked to fire', () => isFiring('SpotalisMovesBlocked'));
    await workload.patch(spotPercentage(70));
    await ends('SpotalisDriftLasting');
    await ends('SpotalisMovesBlocked');
  }, 120_000);

  it('fires SpotalisDroughtLasting while there is no spot node', async () => {
    const annotations = { 'spotalis.io/spot-fallback-after': '1s' };
    const workload = await testbed.declare({ ...web, name: 'dry' });
    await workload.patch({ metadata: { annotations } });
    await workload.ready(10);
    await fires('SpotalisDroughtLasting', () => testbed.cluster.withdrawCapacity('spot'));
    await testbed.cluster.returnCapacity('spot');
    await testbed.cluster.api.delete('Deployment', workload.path);
  }, 120_000);

  it('fires SpotalisLedgerDegraded while Redis is away', async () => {
    await fires('SpotalisLedgerDegraded', () => testbed.redis.kill());
    await testbed.redis.restart();
    await ends('SpotalisLedgerDegraded');
  }, 120_000);

  it('fires SpotalisConfigurationRejected for a file that is not valid', async () => {
    const file = join(testbed.cluster.stateDir, 'spotalis.yaml');
    const before = readFileSync(file, 'utf8');
    const spoilt = stringify({ ...parse(before), logging: { level: 'loud' } });
    await fires('SpotalisConfigurationRejected', () => writeFileSync(file, spoilt));
    writeFileSync(file, before);
  }, 120_000);

  it('fires SpotalisWebhookUnreachable while no webhook is there', async () => {
    await fires('SpotalisWebhookUnreachable', async () => {
      for (const { component } of testbed.installation.webhooks) await component.kill();
    });
    for (const { component } of testbed.installation.webhooks) await component.start();
    await ends('SpotalisWebhookUnreachable');
  }, 120_000);

  it('fires SpotalisNoLeader while no controller is there', async () => {
    await fires('SpotalisNoLeader', async () => {
      for (const { component } of testbed.installation.controllers) await component.kill();
    });
  }, 120_000);

  it('fires SpotalisCertificateExpiring for a certificate that has a day of ten left', async () => {
    const dayMs = 86_400_000;
    const validity = { notBeforeMs: Date.now() - 9 * dayMs, notAfterMs: Date.now() + dayMs };
    const authority = await createAuthority({ commonName: 'Of ten days', ...validity });
    const leaf = await issueLeaf(authority, { names: ['localhost'], ...validity });
    const certDir = join(testbed.cluster.stateDir, 'webhook-certificates');
    await fires('SpotalisCertificateExpiring', () => {
      writeFileSync(join(certDir, 'tls.key'), leaf.key);
      writeFileSync(join(certDir, 'tls.crt'), leaf.cert);
    });
  }, 120_000);
});
