import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnProgram, type OwnProgramFound } from '../binaries/own.ts';
import type { Cluster } from '../cluster.ts';
import { announce } from '../process/announce.ts';
import { waitFor } from '../process/wait.ts';

/** From the cache or built from its module. Throws where it cannot be had. */
export async function prepareCertManager({
  report,
}: {
  readonly report: (line: string) => void;
}): Promise<OwnProgramFound> {
  const found = await findOwnProgram('cert-manager', report);
  if ('missing' in found) throw new Error(found.missing);
  return found;
}

/** Its kinds, its controller and its CA injector. */
export async function startCertManager(cluster: Cluster): Promise<void> {
  const { command, crdDir } = await prepareCertManager({ report: announce });
  for (const name of readdirSync(crdDir)) await cluster.api.apply(readFileSync(join(crdDir, name), 'utf8'));
  await waitFor('the kinds of cert-manager', async () => {
    const kinds = ['Certificate', 'CertificateRequest', 'ClusterIssuer', 'Issuer'];
    await Promise.all(kinds.map((kind) => cluster.api.list(kind)));
    return true;
  });
  await cluster.startService({ name: 'cert-manager', program: command, kubeconfig: cluster.kubeconfig });
}
