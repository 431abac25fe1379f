import { findOwnProgram } from '../binaries/own.ts';
import type { Cluster } from '../cluster.ts';
import { mustBeDeclared } from '../process/declared.ts';
import { announce } from '../process/announce.ts';

/** From the cache or built from its module. Throws where it cannot be had. */
export async function prepareCertManager({
  report,
}: {
  readonly report: (line: string) => void;
}): Promise<string> {
  mustBeDeclared('cert-manager');
  const found = await findOwnProgram('cert-manager', report);
  if ('missing' in found) throw new Error(found.missing);
  return found.command;
}

/** Its controller and its CA injector, in a cluster that has its kinds already. */
export async function startCertManager(cluster: Cluster): Promise<void> {
  const program = await prepareCertManager({ report: announce });
  await cluster.startService({ name: 'cert-manager', program, kubeconfig: cluster.kubeconfig });
}
